"""Roles and bindings of a cluster: who has which rules, and by what."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman.model.package_file import read_package_bytes
from stockman_lab.core.dice import Dice
from stockman_lab.etcd.index import family
from stockman_lab.etcd.keyspace import Keyspace
from stockman_lab.kube.access.attributes import Attributes
from stockman_lab.kube.api.messages import User
from stockman_lab.kube.api.object_selectors import selects
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of, written_time
from stockman_lab.kube.store.store import Store

ALL = "*"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a role."""

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def allows(self, attributes: Attributes) -> bool:
        """Whether it lets somebody do something."""
        if ALL not in self.verbs and attributes.verb not in self.verbs:
            return False
        if attributes.path:
            return any(_fits(path, attributes.path) for path in self.paths)
        return (
            (ALL in self.groups or attributes.group in self.groups)
            and self._has_resource(attributes.resource, attributes.subresource)
            and (not self.names or attributes.name in self.names)
        )

    def _has_resource(self, resource: str, subresource: str) -> bool:
        if ALL in self.resources:
            return True
        if not subresource:
            return resource in self.resources
        return f"{resource}/{subresource}" in self.resources or f"*/{subresource}" in self.resources

    @property
    def content(self) -> Object:
        """As reviews tell it."""
        result: Object = {"verbs": list(self.verbs)}
        if self.paths:
            return result | {"nonResourceURLs": list(self.paths)}
        result |= {"apiGroups": list(self.groups), "resources": list(self.resources)}
        return result | ({"resourceNames": list(self.names)} if self.names else {})


def read_rules(role: Object) -> tuple[Rule, ...]:
    """The rules of a role."""
    return tuple(
        Rule(
            _texts(rule, "verbs"),
            _texts(rule, "apiGroups"),
            _texts(rule, "resources"),
            _texts(rule, "resourceNames"),
            _texts(rule, "nonResourceURLs"),
        )
        for rule in role.get("rules") or []
    )


def _texts(content: Object, name: str) -> tuple[str, ...]:
    return tuple(str(item) for item in content.get(name) or ())


def _fits(pattern: str, path: str) -> bool:
    if pattern in (ALL, path):
        return True
    return pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL))


_KINDS = ("clusterroles", "clusterrolebindings", "roles", "rolebindings")
_FAMILIES = tuple(family(ObjectKey(kind, "").key) for kind in _KINDS)
ACCOUNT = "system:serviceaccount:"
MASTERS = "system:masters"


@dataclass(frozen=True, slots=True)
class Held:
    """A rule that somebody has, and by what."""

    rule: Rule
    by: str
    """As reasons tell it."""


class Roles:
    """What stands in the store, read again when something of it changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: tuple[Keyspace, list[int]] | None = None
        self._cluster_role_rules: dict[str, tuple[Rule, ...]] = {}
        self._role_rules: dict[tuple[str, str], tuple[Rule, ...]] = {}
        """By namespace and name."""
        self._cluster_bindings: list[Object] = []
        self._bindings: dict[str, list[Object]] = {}
        """By namespace."""
        self._read: dict[tuple[str, str], tuple[str, tuple[Rule, ...]]] = {}
        """By namespace and name: at which version of a role it has which rules of its own."""

    def held(self, user: User, namespace: str) -> Iterator[Held]:
        """All rules of somebody: those of the cluster first, then those of the namespace."""
        self._refresh()
        for space in ("", namespace) if namespace else ("",):
            for binding in self._bindings.get(space, ()) if space else self._cluster_bindings:
                subject = _subject(binding, user, space)
                if subject is None:
                    continue
                by = _by(binding, subject, space)
                for rule in self.rules_of(part_of(binding, "roleRef"), space) or ():
                    yield Held(rule, by)

    def rules_of(self, reference: Object, namespace: str) -> tuple[Rule, ...] | None:
        """What a reference of a binding stands for; None: there is no such role."""
        self._refresh()
        name = str(reference.get("name"))
        match reference.get("kind"):
            case "ClusterRole":
                return self._cluster_role_rules.get(name)
            case "Role":
                return self._role_rules.get((namespace, name))
        return None

    def allows(self, attributes: Attributes) -> str | None:
        """Why somebody may do something; None: they may not."""
        return next(
            (
                item.by
                for item in self.held(attributes.user, attributes.namespace)
                if item.rule.allows(attributes)
            ),
            None,
        )

    def _refresh(self) -> None:
        keyspace = self._store.keyspace
        touched = [keyspace.index.touched.get(item, 0) for item in _FAMILIES]
        is_same = self._seen is not None and self._seen[0] is keyspace
        if self._seen is not None and is_same and self._seen[1] == touched:
            return
        before = self._seen[1] if self._seen is not None and is_same else [-1] * len(_KINDS)
        self._seen = keyspace, touched
        changed = {
            kind for kind, old, new in zip(_KINDS, before, touched, strict=True) if old != new
        }
        if not is_same:
            self._read = {}
        if "clusterroles" in changed:
            self._read_cluster_roles()
        if "roles" in changed:
            self._role_rules = {
                _place_of(item): self._rules(item) for item in self._list_objects("roles")
            }
        if "clusterrolebindings" in changed:
            self._cluster_bindings = self._list_objects("clusterrolebindings")
        if "rolebindings" in changed:
            self._bindings = {}
            for item in self._list_objects("rolebindings"):
                self._bindings.setdefault(metadata_of(item)["namespace"], []).append(item)

    def _read_cluster_roles(self) -> None:
        every = self._list_objects("clusterroles")
        self._cluster_role_rules = {
            metadata_of(content)["name"]: aggregated(content, every, self._rules)
            for content in every
        }

    def _rules(self, role: Object) -> tuple[Rule, ...]:
        """The rules of a role, read once per version of it."""
        metadata = metadata_of(role)
        key, version = _place_of(role), str(metadata.get("resourceVersion", ""))
        known = self._read.get(key)
        if known is None or not version or known[0] != version:
            known = self._read[key] = version, read_rules(role)
        return known[1]

    def _list_objects(self, plural: str) -> list[Object]:
        prefix = ObjectKey(plural, "").key + b"/"
        return [entry.content for entry in self._store.list(prefix, cached=True).entries]


def roles_of(store: Store) -> Roles:
    """What stands in a store, for all who ask for it."""
    view = store.views.get(Roles)
    if not isinstance(view, Roles):
        view = store.views[Roles] = Roles(store)
    return view


def _place_of(role: Object) -> tuple[str, str]:
    metadata = metadata_of(role)
    return str(metadata.get("namespace", "")), str(metadata["name"])


def aggregated(
    role: Object,
    every: list[Object],
    read: Callable[[Object], tuple[Rule, ...]] = read_rules,
) -> tuple[Rule, ...]:
    """The rules of a cluster role, with those that it takes from others by their labels."""
    selectors = entries_of(role, "aggregationRule", "clusterRoleSelectors")
    if not selectors:
        return read(role)
    rules: dict[Rule, None] = {}
    for selector in selectors:
        chosen = [
            content
            for content in every
            if content is not role and selects(selector, metadata_of(content).get("labels"))
        ]
        for other in sorted(chosen, key=lambda item: str(metadata_of(item)["name"])):
            rules |= dict.fromkeys(aggregated(other, every, read))
    return tuple(rules)


def _subject(binding: Object, user: User, namespace: str) -> Object | None:
    for subject in binding.get("subjects") or []:
        name = subject.get("name")
        match subject.get("kind"):
            case "User" if name == user.name:
                return dict(subject)
            case "Group" if name in user.groups:
                return dict(subject)
            case "ServiceAccount":
                space = subject.get("namespace") or namespace
                if space and user.name == f"{ACCOUNT}{space}:{name}":
                    return dict(subject)
    return None


def _by(binding: Object, subject: Object, namespace: str) -> str:
    reference = part_of(binding, "roleRef")
    name = metadata_of(binding)["name"]
    bound = f'RoleBinding "{name}/{namespace}"' if namespace else f'ClusterRoleBinding "{name}"'
    who = f'{subject["kind"]} "{subject["name"]}"'
    if subject["kind"] == "ServiceAccount":
        who = f'ServiceAccount "{subject["name"]}/{subject.get("namespace") or namespace}"'
    role = f'{reference.get("kind")} "{reference.get("name")}"'
    return f"RBAC: allowed by {bound} of {role} to {who}"


_ALWAYS = frozenset({"/healthz", "/livez", "/readyz"})
"""Paths that everybody is answered, so that others can see whether the server is well."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided."""

    allowed: bool
    reason: str = ""


class Authorization:
    """Decides by roles; masters may do everything."""

    def __init__(self, store: Store) -> None:
        self.roles = roles_of(store)

    def decide(self, attributes: Attributes) -> Decision:
        """Whether somebody may do something."""
        if MASTERS in attributes.user.groups or attributes.path in _ALWAYS:
            return Decision(True)
        by = self.roles.allows(attributes)
        return Decision(False) if by is None else Decision(True, by)

    def rules(self, user: User, namespace: str) -> list[Rule]:
        """What somebody may do in a namespace."""
        return [item.rule for item in self.roles.held(user, namespace)]


_PLURALS = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "Role": "roles",
    "RoleBinding": "rolebindings",
}
_LABEL = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_ANNOTATIONS = {"rbac.authorization.kubernetes.io/autoupdate": "true"}


@cache
def _table() -> list[tuple[str, str, str, dict[str, str], Object]]:
    text = read_package_bytes("stockman_lab.kube.access", "builtin_roles.json")
    return [
        (kind, space, name, labels, body) for kind, space, name, labels, body in json.loads(text)
    ]


def builtin_roles() -> Iterator[tuple[ObjectKey, Object]]:
    """All of them, without identity and time."""
    result = []
    for kind, namespace, name, labels, body in _table():
        metadata: Object = {"name": name} | ({"namespace": namespace} if namespace else {})
        metadata |= {"labels": {**_LABEL, **labels}, "annotations": dict(_ANNOTATIONS)}
        content = {
            "kind": kind,
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "metadata": metadata,
            **json.loads(json.dumps(body)),
        }
        result.append((ObjectKey(_PLURALS[kind], name, namespace), content))
    every = [content for _, content in result if content["kind"] == "ClusterRole"]
    for key, content in result:
        if "aggregationRule" in content:
            content["rules"] = [item.content for item in aggregated(content, every)]
        yield key, content


def add_builtin_roles(store: Store, dice: Dice, now: float) -> None:
    """Put in what is missing; raises `EtcdError`."""
    for place, content in builtin_roles():
        if store.get(place.key) is None:
            metadata = content["metadata"]
            metadata |= {"uid": dice.uuid(), "creationTimestamp": written_time(now)}
            store.create(place.key, content)
