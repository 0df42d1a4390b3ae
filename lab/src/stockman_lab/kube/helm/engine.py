"""What Helm does with releases: install, upgrade, roll back, uninstall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.helm.chart import Chart
from stockman_lab.kube.helm.release import KIND, Release, read_release
from stockman_lab.kube.helm.rendering import CannotRender, Rendered, render
from stockman_lab.kube.helm.writer import Writer, is_same_place
from stockman_lab.kube.objects import Object, Tree, metadata_of, part_of

MANAGED = "app.kubernetes.io/managed-by"
NAME = "meta.helm.sh/release-name"
NAMESPACE = "meta.helm.sh/release-namespace"


def own(content: Object, release: str, namespace: str, labels: Object) -> None:
    """Mark an object as one of a release."""
    about = content.setdefault("metadata", {})
    about["labels"] = {**(about.get("labels") or {}), **labels, MANAGED: "Helm"}
    about["annotations"] = {
        **(about.get("annotations") or {}),
        NAME: release,
        NAMESPACE: namespace,
    }


def why_foreign(content: Object, release: str, namespace: str) -> str:
    """What keeps an object from being one of a release; empty: nothing."""
    labels = part_of(content, "metadata", "labels")
    annotations = part_of(content, "metadata", "annotations")
    result = [
        _wrong("label", labels, MANAGED, "Helm"),
        _wrong("annotation", annotations, NAME, release),
        _wrong("annotation", annotations, NAMESPACE, namespace),
    ]
    return "; ".join(item for item in result if item)


def _wrong(kind: str, marks: Object, name: str, desired: str) -> str:
    if name not in marks:
        return f'{kind} validation error: missing key "{name}": must be set to "{desired}"'
    if marks[name] != desired:
        return (
            f'{kind} validation error: key "{name}" must equal "{desired}": current value is'
            f' "{marks[name]}"'
        )
    return ""


_KEPT = "helm.sh/resource-policy"
_MOST_REVISIONS = 10


class HelmFailed(Exception):
    """Why something did not work, in Helm's words."""


@dataclass(frozen=True, slots=True)
class ReleaseSpec:
    """What to install or upgrade to."""

    name: str
    namespace: str
    chart: Chart
    values: Object = field(default_factory=dict)
    storage: str = ""
    """The namespace in which it is written down. Empty: its own."""
    version: str = ""
    """How the version of its chart is called. Empty: as it is."""
    create_namespace: bool = False
    definitions: str = "Create"
    """What is done with the `crds` folder: `Skip`, `Create`, `CreateReplace`."""
    take_ownership: bool = False
    labels: Object = field(default_factory=dict)
    """More labels of all objects."""

    @property
    def metadata(self) -> Object:
        metadata = self.chart.metadata
        return {**metadata, "version": self.version} if self.version else metadata


@dataclass(slots=True)
class Helm:
    """Helm in the name of somebody."""

    writer: Writer
    clock: Callable[[], float]

    # -- what is there -------------------------------------------------------------------------

    def history(self, name: str, namespace: str) -> list[Release]:
        """All revisions of a release, the newest first; raises `HelmFailed`."""
        try:
            v1 = self.writer.listed("v1", "Secret", namespace, f"name={name},owner=helm")
        except Refused as why:
            raise HelmFailed(f"query: failed to query with labels: {why.message}") from None
        read = [read_release(item) for item in v1 if item.get("type") == KIND]
        kept = [item for item in read if item is not None]
        return sorted(kept, key=lambda item: -item.revision)

    def last(self, name: str, namespace: str) -> Release | None:
        """The newest revision; None: there is no such release."""
        return next(iter(self.history(name, namespace)), None)

    # -- changes -------------------------------------------------------------------------------

    def begin_install(self, spec: ReleaseSpec, revision: int = 1) -> Release:
        """Make everything that is new; raises `HelmFailed`, where nothing is written down."""
        rendered = self._render(spec)
        if spec.definitions != "Skip":
            self._bring_definitions(rendered, replace=spec.definitions == "CreateReplace")
        objects = self._own_objects(rendered.objects, spec)
        if spec.create_namespace:
            self._bring_namespace(spec.namespace)
        existing = self._check_ownership(objects, spec, "install")
        now = self.clock()
        release = Release(
            spec.name,
            spec.namespace,
            revision,
            spec.metadata,
            spec.values,
            objects,
            now,
            now,
        )
        release.description = "Initial install underway"
        self._keep(release, spec.storage, is_new=True)
        self._make(
            release,
            spec.storage,
            {id(content): existing.get(id(content)) for content in objects},
            [],
        )
        return release

    def begin_upgrade(self, spec: ReleaseSpec, before: Release) -> Release:
        """Bring everything in line with a new revision; raises `HelmFailed`."""
        rendered = self._render(spec)
        if spec.definitions == "CreateReplace":
            self._bring_definitions(rendered, replace=True)
        objects = self._own_objects(rendered.objects, spec)
        known = before.objects
        added = [
            content for content in objects if not any(is_same_place(content, old) for old in known)
        ]
        existing = self._check_ownership(added, spec, "update")
        now = self.clock()
        release = Release(
            spec.name,
            spec.namespace,
            before.revision + 1,
            spec.metadata,
            spec.values,
            objects,
            before.first,
            now,
            "pending-upgrade",
            "Preparing upgrade",
        )
        self._keep(release, spec.storage, is_new=True)
        live = {id(content): existing.get(id(content)) or self._got(content) for content in objects}
        self._make(release, spec.storage, live, known)
        return release

    def rollback(self, to: Release, before: Release, storage: str = "") -> Release:
        """Go back to what a revision was, as a new one; raises `HelmFailed`."""
        release = Release(
            to.name,
            to.namespace,
            before.revision + 1,
            to.chart,
            to.values,
            to.objects,
            to.first,
            self.clock(),
            "pending-rollback",
            f"Rollback to {to.revision}",
        )
        self._keep(release, storage, is_new=True)
        self._make(
            release,
            storage,
            {id(content): self._got(content) for content in to.objects},
            before.objects,
        )
        return release

    def finish(self, release: Release, storage: str = "") -> None:
        """A revision works: it is the one, and those before it are history."""
        words = {"pending-upgrade": "Upgrade complete", "pending-install": "Install complete"}
        release.description = words.get(release.status, release.description)
        release.status = "deployed"
        for old in self.history(release.name, storage or release.namespace):
            if old.revision < release.revision and old.status == "deployed":
                old.status = "superseded"
                self._keep(old, storage, is_new=False)
        self._keep(release, storage, is_new=False)
        self._forget_oldest(release, storage)

    def fail(self, release: Release, why: str, storage: str = "") -> None:
        """A revision did not come to be."""
        kind = "Upgrade" if release.status == "pending-upgrade" else "Release"
        release.description = f'{kind} "{release.name}" failed: {why}'
        release.status = "failed"
        self._keep(release, storage, is_new=False)

    def waiting(self, release: Release) -> list[tuple[Object, str]]:
        """Objects of a release that are not ready, with what they wait for."""
        from stockman_lab.kube.health import missing

        result = [(content, missing(self._got(content))) for content in release.objects]
        return [(one, why) for one, why in result if why]

    def write_down(self, release: Release, storage: str = "") -> None:
        """Keep a release as it is now."""
        self._keep(release, storage, is_new=False)

    def uninstall(self, name: str, namespace: str, *, keep: bool = False) -> Release | None:
        """Take everything away; the release as it was, None where there was none."""
        history = self.history(name, namespace)
        if not history:
            return None
        newest = history[0]
        for content in reversed(newest.objects):
            self._remove(content)
        newest.status, newest.description = "uninstalled", "Uninstallation complete"
        newest.deleted = self.clock()
        if keep:
            self._keep(newest, namespace, is_new=False)
        else:
            for kept in history:
                secret = kept.secret(0.0, is_new=False)
                secret["metadata"]["namespace"] = namespace
                self._remove(secret)
        return newest

    # -- parts ---------------------------------------------------------------------------------

    def _render(self, spec: ReleaseSpec) -> Rendered:
        try:
            return render(spec.chart, spec.name, spec.namespace, spec.values)
        except CannotRender as why:
            raise HelmFailed(str(why)) from None

    def _own_objects(self, objects: list[Object], spec: ReleaseSpec) -> list[Object]:
        for content in objects:
            own(content, spec.name, spec.namespace, spec.labels)
        return objects

    def _bring_definitions(self, rendered: Rendered, *, replace: bool) -> None:
        for definition in rendered.definitions:
            live = self._got(definition)
            try:
                if live is None:
                    self.writer.made(definition)
                elif replace and part_of(live, "spec") != part_of(definition, "spec"):
                    self.writer.patch(live, {"spec": definition["spec"]})
            except Refused as why:
                name = metadata_of(definition)["name"]
                raise HelmFailed(f"failed to install CRD crds/{name}.yaml: {why.message}") from None

    def _bring_namespace(self, name: str) -> None:
        about = {"name": name, "labels": {"name": name}}
        try:
            self.writer.made({"apiVersion": "v1", "kind": "Namespace", "metadata": about})
        except Refused as why:
            if not why.is_taken:
                raise HelmFailed(f"create: failed to create: {why.message}") from None

    def _check_ownership(
        self, objects: list[Object], spec: ReleaseSpec, what: str
    ) -> dict[int, Object | None]:
        lives: dict[int, Object | None] = {}
        for content in objects:
            live = self._got(content)
            if live is None:
                continue
            why = "" if spec.take_ownership else why_foreign(live, spec.name, spec.namespace)
            if why:
                about = metadata_of(content)
                where = about.get("namespace") or ""
                raise HelmFailed(
                    f'Unable to continue with {what}: {content["kind"]} "{about["name"]}" in'
                    f' namespace "{where}" exists and cannot be imported into the current release:'
                    f" invalid ownership metadata; {why}"
                )
            lives[id(content)] = live
        return lives

    def _make(
        self, release: Release, storage: str, live: dict[int, Object | None], before: list[Object]
    ) -> None:
        try:
            for content in release.objects:
                self._bring(content, live.get(id(content)), before)
            for old in before:
                if not any(is_same_place(old, content) for content in release.objects):
                    self._remove(old)
        except Refused as why:
            self.fail(release, why.message, storage)
            raise HelmFailed(why.message) from None

    def _bring(self, content: Object, live: Object | None, before: list[Object]) -> None:
        if live is None:
            self.writer.made(content)
            return
        old = next((item for item in before if is_same_place(item, content)), {})
        change = _difference(old, content, live)
        if not change:
            return
        if self.writer.is_builtin(content):
            self.writer.patch_by_keys(live, change)
        else:
            self.writer.patch(live, change)

    def _got(self, content: Object) -> Object | None:
        try:
            self.writer.resource_of(content)
        except Refused:
            raise HelmFailed(_mapping(content)) from None
        try:
            return self.writer.live(content)
        except Refused as why:
            raise HelmFailed(why.message) from None

    def _remove(self, content: Object) -> None:
        if part_of(content, "metadata", "annotations").get(_KEPT) == "keep":
            return
        try:
            live = self.writer.live(content)  # also where its kind is gone
            if live is not None:
                self.writer.delete(live, "Background")
        except Refused as why:
            raise HelmFailed(why.message) from None

    def _keep(self, release: Release, storage: str, *, is_new: bool) -> None:
        secret = release.secret(self.clock(), is_new=is_new)
        secret["metadata"]["namespace"] = storage or release.namespace
        try:
            if is_new:
                self.writer.made(secret)
                return
            live = self.writer.live(secret)
            if live is not None:
                labels = {"createdAt": None, **secret["metadata"]["labels"]}
                change = {"metadata": {"labels": labels}, "data": secret["data"]}
                self.writer.patch(live, change)
        except Refused as why:
            raise HelmFailed(f"create: failed to create: {why.message}") from None

    def _forget_oldest(self, release: Release, storage: str) -> None:
        for old in self.history(release.name, storage or release.namespace)[_MOST_REVISIONS:]:
            secret = old.secret(0.0, is_new=False)
            secret["metadata"]["namespace"] = storage or release.namespace
            self._remove(secret)


def _mapping(content: Object) -> str:
    return (
        f"unable to build kubernetes objects from release manifest: resource mapping not found for"
        f' name: "{metadata_of(content)["name"]}" namespace:'
        f' "{metadata_of(content).get("namespace", "")}" from "": no matches for kind'
        f' "{content["kind"]}" in version "{content["apiVersion"]}"\n'
        "ensure CRDs are installed first"
    )


def _difference(old: Tree, new: Tree, live: Tree) -> Object:
    """What has to change of an object that is there: what is new, and what is no longer wanted."""
    inners: Object = {}
    for name, one in new.items():
        known = live.get(name) if isinstance(live, dict) else None
        before = old.get(name) if isinstance(old, dict) else None
        if isinstance(one, dict) and isinstance(known, dict):
            inner = _difference(before or {}, one, known)
            if inner:
                inners[name] = inner
        elif before != one or (known != one and not isinstance(one, list)):
            inners[name] = one
    for name in old if isinstance(old, dict) else ():
        if name not in new and isinstance(live, dict) and name in live:
            inners[name] = None
    return inners
