"""Names that change, and fields of others that hold them."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.kube.flux.kustomize.failure import BuildFailure
from stockman_lab.kube.flux.kustomize.fields import change_at, is_one_of
from stockman_lab.kube.flux.kustomize.identity import Identity, Selector
from stockman_lab.kube.flux.kustomize.resource import Resource, Resources
from stockman_lab.kube.flux.kustomize.tables import table
from stockman_lab.kube.objects import Object, Tree, entries_of, part_of

_UNTOUCHED = ("CustomResourceDefinition", "APIService apiregistration.k8s.io", "Namespace")


def add_prefix(resources: Resources, prefix: str) -> None:
    """Put something before all names but of those that cannot be called otherwise."""
    for resource in resources:
        if prefix and not is_one_of(resource.at_first, _UNTOUCHED):
            resource.prefixes.append(prefix)
            resource.remember()
            resource.rename(f"{prefix}{resource.now.name}")


def add_suffix(resources: Resources, suffix: str) -> None:
    """Put something behind all names but of those that cannot be called otherwise."""
    for resource in resources:
        if suffix and not is_one_of(resource.at_first, _UNTOUCHED):
            resource.suffixes.append(suffix)
            resource.remember()
            resource.rename(f"{resource.now.name}{suffix}")


def follow_names(resources: Resources) -> None:
    """Have fields that hold names of others hold the names that those have now."""
    for kind, paths in table().references.items():
        wanted = Selector.of(kind)
        called = [one for one in resources if _was(one, wanted)]
        if not called:
            continue
        for path, kinds in paths.items():
            for resource in resources:
                if is_one_of(resource.at_first, kinds):
                    change_at(resource.content, path, _Follower(resource, path, called).followed)


def _was(one: Resource, selector: Selector) -> bool:
    return any(name.is_selected(selector) for name in one.before)


class _Follower:
    """Finds what a field of one resource means among others."""

    def __init__(self, referrer: Resource, path: str, called: list[Resource]) -> None:
        self._referrer = referrer
        self._path = path
        self._called = [one for one in called if self._may_mean(one)]

    def followed(self, value: Tree) -> Tree:
        """What a field has to say."""
        if isinstance(value, list):
            return [self.followed(one) for one in value]
        if isinstance(value, dict):
            return self._reference(value)
        return self._name(value) if isinstance(value, str) else value

    def _name(self, name: str) -> str:
        meant = self._meant(name, self._called, lambda one: one.now.name)
        return name if meant is None else meant.now.name

    def _reference(self, value: Object) -> Object:
        if "name" not in value:
            raise BuildFailure("path config error; no 'name' field in node")
        candidates = self._called
        if "namespace" in value:
            place = str(value["namespace"])
            candidates = [one for one in self._called if one.at_first.place == place] or [
                one for one in self._called if one.now.place == place
            ]
        name = str(value["name"])
        meant = self._meant(name, candidates, lambda one: (one.now.name, one.now.namespace))
        if meant is None or (meant.now.name == name and not meant.now.namespace):
            return value
        reference = {**value, "name": meant.now.name}
        if meant.now.namespace:
            reference["namespace"] = meant.now.namespace
        return reference

    def _may_mean(self, one: Resource) -> bool:
        mine, now = self._referrer.now, one.now
        if mine.is_cluster_wide or now.is_cluster_wide or mine.place == now.place:
            return True
        return now.kind == "ServiceAccount" and now.namespace in self._account_namespaces()

    def _account_namespaces(self) -> set[str]:
        if self._referrer.now.kind != "RoleBinding":
            return set()
        subjects = entries_of(self._referrer.content, "subjects")
        return {
            str(subject.get("namespace"))
            for subject in subjects
            if subject.get("kind") == "ServiceAccount" and subject.get("namespace")
        }

    def _meant(
        self, name: str, candidates: list[Resource], same: Callable[[Resource], object]
    ) -> Resource | None:
        found = [
            candidate
            for candidate in candidates
            if any(before.name == name for before in candidate.before)
            and self._fits_role(candidate)
        ]
        if len(found) > 1:
            found = [one for one in found if self._is_near(one, or_nowhere=True)]
        if len(found) > 1:
            found = [one for one in found if self._is_near(one)] or found
        if len({same(one) for one in found}) > 1:
            names = ", ".join(str(one.now) for one in found)
            raise BuildFailure(f"found multiple possible referrals: {names}")
        return found[0] if found else None

    def _fits_role(self, one: Resource) -> bool:
        if not self._path.endswith("roleRef/name"):
            return True
        role = part_of(self._referrer.content, "roleRef")
        if not role.get("apiGroup") or not role.get("kind"):
            return True
        selector = Selector(str(role["kind"]), str(role["apiGroup"]))
        return any(before.is_selected(selector) for before in one.before)

    def _is_near(self, one: Resource, *, or_nowhere: bool = False) -> bool:
        mine = self._referrer
        return _ends_alike(mine.prefixes, one.prefixes, or_nowhere=or_nowhere) and _ends_alike(
            mine.suffixes, one.suffixes, or_nowhere=or_nowhere
        )


def _ends_alike(one: list[str], other: list[str], *, or_nowhere: bool) -> bool:
    if or_nowhere and (not one or not other):
        return True
    shorter, longer = sorted((one, other), key=len)
    return longer[len(longer) - len(shorter) :] == shorter if shorter else not longer


def set_namespace(resources: Resources, namespace: str) -> None:
    """Put everything that lies in a namespace into one."""
    for resource in resources:
        resource.remember()
        _set_namespace(resource.content, namespace)
        name = resource.now
        if sum(name.is_same(other.now) for other in resources) > 1:
            raise BuildFailure(f"namespace transformation produces ID conflict: [{name}]")


def _set_namespace(content: Object, namespace: str) -> None:
    name = Identity.of(content)
    if not name.is_cluster_wide:
        content.setdefault("metadata", {})["namespace"] = namespace
    if name.kind in {"RoleBinding", "ClusterRoleBinding"}:
        for subject in entries_of(content, "subjects"):
            if subject.get("name") == "default":
                subject["namespace"] = namespace
    if name.kind == "Namespace" and name.api_version == "v1":
        content["metadata"]["name"] = namespace
    elif name.kind == "APIService" and name.group == "apiregistration.k8s.io":
        content.setdefault("spec", {}).setdefault("service", {})["namespace"] = namespace
    elif name.kind == "CustomResourceDefinition" and name.group == "apiextensions.k8s.io":
        path = "spec/conversion/webhook/clientConfig/service/namespace"
        change_at(content, path, lambda _: namespace)
