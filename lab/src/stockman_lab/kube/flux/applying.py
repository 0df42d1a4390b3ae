"""Objects brought into the cluster by server-side apply, and taken out of it again."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.flux.controller import KUSTOMIZE_GROUP
from stockman_lab.kube.flux.inventory import Entry
from stockman_lab.kube.objects import Object, metadata_of

MANAGER = "kustomize-controller"
_SWITCH = f"{KUSTOMIZE_GROUP}/"
_IMMUTABLE = re.compile(r"is\simmutable|immutable\sfield")
CREATED, CONFIGURED, UNCHANGED = "created", "configured", "unchanged"
DELETED, SKIPPED = "deleted", "skipped"


class ApplyFailure(Exception):
    """Something was not applied or not deleted."""

    def __init__(self, message: str, done: list[AppliedObject]) -> None:
        super().__init__(message)
        self.message = message
        self.done = done


@dataclass(frozen=True, slots=True)
class AppliedObject:
    """What was done to one object."""

    entry: Entry
    action: str

    def __str__(self) -> str:
        return f"{self.entry.shown} {self.action}"


def says(content: Object, **words: str) -> bool:
    """Whether labels or annotations of an object say any of some words to Flux."""
    metadata = metadata_of(content)
    return any(
        str((metadata.get(part) or {}).get(f"{_SWITCH}{name}", "")).lower() == word.lower()
        for part in ("labels", "annotations")
        for name, word in words.items()
    )


class Applying:
    """Applies the objects of one Kustomization."""

    def __init__(self, client: Client, *, force: bool = False) -> None:
        self._client = client
        self._force = force

    def staged(self, objects: list[Object]) -> list[AppliedObject]:
        """Apply definitions and namespaces, then classes, then the rest; raises `ApplyFailure`."""
        stages: list[list[Object]] = [[], [], []]
        for content in objects:
            stages[_stage(content)].append(content)
        done: list[AppliedObject] = []
        for stage in stages:
            try:
                done += self._stage(stage)
            except ApplyFailure as why:
                raise ApplyFailure(why.message, done) from None
        return done

    def _stage(self, objects: list[Object]) -> list[AppliedObject]:
        """Try everything first, and apply what differs only when all of it can be."""
        ordered = sorted(objects, key=lambda one: Entry.of(one).order)
        planned = [self._plan(item) for item in ordered]
        for content, change in planned:
            if change.action in {CREATED, CONFIGURED}:
                try:
                    self._client.apply(content, MANAGER)
                except Refused as why:
                    text = f"{change.entry.shown} apply failed: {why.message}"
                    raise ApplyFailure(text, []) from None
        return [change for _, change in planned]

    def _plan(self, content: Object) -> tuple[Object, AppliedObject]:
        content = self._place_object(content)
        entry = Entry.of(content)
        live = self._client.live(content)
        if self._is_skipped(content, live):
            return content, AppliedObject(entry, SKIPPED)
        try:
            tried = self._client.apply(content, MANAGER, dry_run=True)
        except Refused as why:
            if live is None or not self._may_replace(content, live, why):
                raise ApplyFailure(_refusal(entry, why), []) from None
            self._client.delete(live, "Background")
            if self._client.live(content) is not None:
                what = "immutable field detected, failed to wait for object to be deleted"
                raise ApplyFailure(f"{entry.shown} {what}", []) from None
            return content, AppliedObject(entry, CREATED)
        if live is None:
            return content, AppliedObject(entry, CREATED)
        is_changed = _differs(live, tried)
        return content, AppliedObject(entry, CONFIGURED if is_changed else UNCHANGED)

    def _place_object(self, content: Object) -> Object:
        entry = Entry.of(content)
        try:
            resource = self._client.resource_of(content)
        except Refused:
            version = content.get("apiVersion")
            text = f'no matches for kind "{entry.kind}" in version "{version}"'
            raise ApplyFailure(f"{entry.shown} dry-run failed: {text}", []) from None
        if resource.namespaced:
            if not entry.namespace:
                why = "the server could not find the requested resource"
                raise ApplyFailure(f"{entry.shown} namespace not specified: {why}", [])
            return content
        metadata = {name: one for name, one in content["metadata"].items() if name != "namespace"}
        return {**content, "metadata": metadata}

    def _is_skipped(self, content: Object, live: Object | None) -> bool:
        off = {"reconcile": "disabled", "ssa": "Ignore"}
        if says(content, **off) or (live is not None and says(live, **off)):
            return True
        return live is not None and says(content, ssa="IfNotPresent")

    def _may_replace(self, content: Object, live: Object, why: Refused) -> bool:
        force = self._force or says(content, force="enabled") or says(live, force="enabled")
        is_fixed = why.reason in {"Invalid", "Conflict"} or bool(_IMMUTABLE.search(why.message))
        return force and is_fixed

    def delete_all(self, entries: list[Entry], name: str, namespace: str) -> list[AppliedObject]:
        """Delete what still belongs to a Kustomization; raises `ApplyFailure`."""
        done: list[AppliedObject] = []
        errors = ""
        for entry in sorted(entries, key=lambda one: one.order, reverse=True):
            try:
                done.append(AppliedObject(entry, self._delete(entry, name, namespace)))
            except Refused as why:
                errors += f"{entry.shown} delete failed: {why.message};"
        if errors:
            raise ApplyFailure(f"delete failed, errors: {errors}", done)
        return done

    def _delete(self, entry: Entry, name: str, namespace: str) -> str:
        live = self._client.live(entry.content) if self._is_known(entry) else None
        if live is None:
            return DELETED
        labels = metadata_of(live).get("labels") or {}
        owner = (labels.get(f"{_SWITCH}name"), labels.get(f"{_SWITCH}namespace"))
        off = {"prune": "disabled", "reconcile": "disabled", "ssa": "Ignore"}
        if owner != (name, namespace) or says(live, **off):
            return SKIPPED
        self._client.delete(live, "Background")
        return DELETED

    def _is_known(self, entry: Entry) -> bool:
        try:
            self._client.resource_of(entry.content)
        except Refused:
            return False
        return True

    def live(self, entry: Entry) -> Object | None:
        """What an object of an inventory is now; None: there is none."""
        return self._client.live(entry.content) if self._is_known(entry) else None


def _stage(content: Object) -> int:
    kind, version = str(content.get("kind")), str(content.get("apiVersion"))
    is_definition = kind == "CustomResourceDefinition" or (kind, version) == ("Namespace", "v1")
    if is_definition or (kind == "ClusterRole" and version.startswith("rbac.")):
        return 0
    return 1 if kind.endswith("Class") else 2


def _refusal(entry: Entry, why: Refused) -> str:
    if why.is_absent:
        what = "not found" if entry.namespace else "namespace not specified"
        return f"{entry.shown} {what}: {why.message}"
    reason = f" ({why.reason})" if why.reason else ""
    return f"{entry.shown} dry-run failed{reason}: {why.message}"


def _differs(live: Object, tried: Object) -> bool:
    return _comparable_part(live) != _comparable_part(tried)


def _comparable_part(content: Object) -> Object:
    metadata = metadata_of(content)
    rest = {name: one for name, one in content.items() if name not in {"metadata", "status"}}
    return {
        **rest,
        "labels": metadata.get("labels") or {},
        "annotations": metadata.get("annotations") or {},
    }
