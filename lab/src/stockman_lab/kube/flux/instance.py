"""The flux-operator: FluxInstances become Flux, and a FluxReport tells how it is."""

from __future__ import annotations

import json
from collections.abc import Iterable

from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange
from stockman_lab.kube.flux.helm_policies import seconds_of, shown
from stockman_lab.kube.flux.helm_status import Standing, digest, image_name, running_pod
from stockman_lab.kube.flux.instance_objects import (
    Instance,
    NotBuilt,
    ids,
    matched,
    objects,
    patches_of,
)
from stockman_lab.kube.flux.kustomize.documents import BuildFailure
from stockman_lab.kube.flux.kustomize.patches import patched
from stockman_lab.kube.health import missing
from stockman_lab.kube.helm.writer import Writer, account
from stockman_lab.kube.objects import Object, copied, metadata_of, part_of
from stockman_lab.kube.programs import is_ready

GROUP = "fluxcd.controlplane.io"
PLURAL = "fluxinstances"
PROGRAM = "flux-operator"
FINALIZER = f"{GROUP}/finalizer"
REQUESTED = "reconcile.fluxcd.io/requestedAt"
_RECONCILE = f"{GROUP}/reconcile"
_EVERY, _TIMEOUT = f"{GROUP}/reconcileEvery", f"{GROUP}/reconcileTimeout"
_PROGRESS = "Reconciliation in progress"
_NOTE = "flux-instance "
_AGAIN = 30.0


class FluxInstances(Controller):
    """Works while a pod of the flux-operator is ready."""

    name = PROGRAM
    component = PROGRAM
    watches = (
        f"{PLURAL}.{GROUP}",
        "pods",
        "deployments",
        "gitrepositories.source.toolkit.fluxcd.io",
        "ocirepositories.source.toolkit.fluxcd.io",
        "kustomizations.kustomize.toolkit.fluxcd.io",
    )

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """An instance itself; all of them when the operator begins, or what they wait for moves."""
        if change.key.resource == PLURAL:
            before, after = change.before, change.after
            is_new = after is not None and (
                before is None or _request_marks(before) != _request_marks(after)
            )
            return (change.name,) if is_new else ()
        if change.key.resource == "pods":
            before, after = change.before or {}, change.after or {}
            began = image_name(after) == PROGRAM and is_ready(after) and not is_ready(before)
            result = self.objects.listed(PLURAL, group=GROUP) if began else []
            return [_key(item) for item in result]
        return [note.removeprefix(_NOTE) for note in self.context.notes if note.startswith(_NOTE)]

    def sync(self, key: str) -> None:
        """Bring an instance one step further."""
        pod = running_pod(self.objects, PROGRAM)
        patch = self.objects.get(PLURAL, key, GROUP)
        if pod is None or patch is None:
            return
        about = metadata_of(patch)
        writer = Writer(self.client.api, PROGRAM, account(str(about["namespace"]), _account(pod)))
        if about.get("deletionTimestamp"):
            self._delete(key, patch, writer)
            return
        if FINALIZER not in (about.get("finalizers") or ()):
            names = [*(about.get("finalizers") or ()), FINALIZER]
            patch = self.client.patch(patch, {"metadata": {"finalizers": names}})
        standing = Standing(patch, copied(part_of(patch, "status")), self.now)
        if _annotation(patch, _RECONCILE) == "disabled":
            if not standing.status.get("conditions"):
                text = "Initialized with reconciliation suspended"
                standing.mark("Ready", "True", "ReconciliationDisabled", text)
            self.recorder.warning(patch, "ReconciliationDisabled", "Reconciliation is disabled")
        else:
            self._reconcile(key, patch, standing, writer)
        self._note_request(patch, standing)
        self._write(patch, standing)

    def _reconcile(self, key: str, content: Object, standing: Standing, writer: Writer) -> None:
        text = self.context.notes.get(f"{_NOTE}{key}")
        if text is None or json.loads(text)["generation"] != standing.generation:
            self._begin(key, content, standing, writer)
            return
        note = json.loads(text)
        left = [item for item in note["objects"] if missing(self._live(item, writer))]
        is_waited = part_of(content, "spec").get("wait", True) and left
        if is_waited and self.now < note["until"]:
            self.look_again(key, note["until"], patient=True)
            return
        self.context.notes.pop(f"{_NOTE}{key}", None)
        if is_waited:
            self._too_late(key, content, standing, left)
            return
        self._done(key, content, standing, note)

    def _begin(self, key: str, content: Object, standing: Standing, writer: Writer) -> None:
        standing.mark("Ready", "Unknown", "Progressing", _PROGRESS)
        standing.reconciling("Progressing", _PROGRESS)
        desired = str(part_of(content, "spec", "distribution").get("version") or "2.x")
        try:
            instance = Instance(content, matched(desired))
            result = patched(objects(instance), patches_of(content))
        except (NotBuilt, BuildFailure) as why:
            self._not_built(content, standing, f"build failed: {why}")
            return
        revision = f"{instance.version}@{digest(result)}"
        if standing.status.get("lastAttemptedRevision") != revision:
            word = "Upgrading to" if standing.status.get("lastAttemptedRevision") else "Installing"
            self.recorder.normal(content, "Progressing", f"{word} revision {revision}")
            standing.status["lastAttemptedRevision"] = revision
        before = part_of(standing.status, "inventory").get("entries") or []
        try:
            for item in result:
                writer.apply(item, PROGRAM)
            self._prune(before, result, writer)
        except Refused as why:
            text = f"reconciliation failed: {why.message}"
            standing.mark("Ready", "False", "ReconciliationFailed", text)
            standing.reconciling("ProgressingWithRetry", _PROGRESS)
            self.recorder.warning(content, "ReconciliationFailed", text)
            self.look_again(key, self.now + _AGAIN, patient=True)
            return
        standing.status["inventory"] = {"entries": ids(result)}
        standing.status["components"] = instance.images
        seconds = seconds_of(_annotation(content, _TIMEOUT), 300.0)
        watched = [_place(item) for item in result]
        self.context.notes[f"{_NOTE}{key}"] = json.dumps(
            {
                "generation": standing.generation,
                "objects": watched,
                "until": self.now + seconds,
                "since": self.now,
                "new": not before,
            }
        )
        self.look_again(key, self.now + 1.0)

    def _done(self, key: str, content: Object, standing: Standing, note: Object) -> None:
        revision = str(standing.status.get("lastAttemptedRevision", ""))
        standing.status["lastAppliedRevision"] = revision
        spent = max(self.now - float(note["since"]), 0.001)
        told = shown(spent) if spent >= 1 else f"{int(spent * 1000)}ms"
        text = f"Reconciliation finished in {told}"
        standing.mark("Ready", "True", "ReconciliationSucceeded", text)
        standing.drop("Reconciling", "Stalled")
        if note["new"]:
            version = revision.partition("@")[0]
            self.recorder.normal(content, "ReconciliationSucceeded", f"Flux {version} installed")
        self.recorder.normal(content, "ReconciliationSucceeded", text)
        every = seconds_of(_annotation(content, _EVERY), 3600.0)
        self.look_again(key, self.now + every, patient=True)

    def _too_late(self, key: str, content: Object, standing: Standing, left: list[Object]) -> None:
        shown_left = ", ".join(
            f"{item['kind']}/{metadata_of(item).get('namespace', '')}/{metadata_of(item)['name']}"
            " status: 'InProgress'"
            for item in left
        )
        text = f"reconciliation failed: timeout waiting for: [{shown_left}]"
        standing.mark("Ready", "False", "ReconciliationFailed", text)
        standing.reconciling("ProgressingWithRetry", _PROGRESS)
        self.recorder.warning(content, "ReconciliationFailed", text)
        self.look_again(key, self.now + _AGAIN, patient=True)

    def _not_built(self, content: Object, standing: Standing, text: str) -> None:
        standing.mark("Ready", "False", "BuildFailed", text)
        standing.stalled("BuildFailed", text)
        self.recorder.warning(content, "BuildFailed", text)

    def _prune(self, before: list[Object], contents: list[Object], writer: Writer) -> None:
        kept = {str(item["id"]) for item in ids(contents)}
        for item in reversed(before):
            if str(item["id"]) not in kept:
                self._remove(item, writer)

    def _remove(self, content: Object, writer: Writer) -> None:
        space, name, group, kind = str(content["id"]).split("_", 3)
        version = f"{group}/{content['v']}" if group else str(content["v"])
        about = {"name": name.replace("__", ":"), "namespace": space}
        live = writer.live({"apiVersion": version, "kind": kind, "metadata": about})
        if live is not None and kind != "Namespace":
            writer.delete(live, "Background")

    def _delete(self, key: str, content: Object, writer: Writer) -> None:
        names = [
            finalizer
            for finalizer in metadata_of(content).get("finalizers") or ()
            if finalizer != FINALIZER
        ]
        if names == (metadata_of(content).get("finalizers") or []):
            return
        self.context.notes.pop(f"{_NOTE}{key}", None)
        if _annotation(content, _RECONCILE) != "disabled":
            for entry in reversed(part_of(content, "status", "inventory").get("entries") or []):
                self._remove(entry, writer)
        self.client.patch(content, {"metadata": {"finalizers": names or None}})

    def _live(self, content: Object, writer: Writer) -> Object | None:
        return writer.live(content)

    def _note_request(self, content: Object, standing: Standing) -> None:
        annotation = _annotation(content, REQUESTED)
        if annotation:
            standing.status["lastHandledReconcileAt"] = annotation

    def _write(self, content: Object, standing: Standing) -> None:
        fresh = self.objects.get(PLURAL, _key(content), GROUP)
        if fresh is not None and standing.status != part_of(fresh, "status"):
            self.client.update_status(fresh, standing.status)


def _key(content: Object) -> str:
    about = metadata_of(content)
    return f"{about['namespace']}/{about['name']}"


def _annotation(content: Object, name: str) -> str:
    return str(part_of(content, "metadata", "annotations").get(name, ""))


def _request_marks(content: Object) -> tuple[object, ...]:
    about = metadata_of(content)
    marks = tuple(_annotation(content, item) for item in (REQUESTED, _RECONCILE))
    return about.get("generation"), about.get("deletionTimestamp"), marks


def _account(pod: Object) -> str:
    return str(part_of(pod, "spec").get("serviceAccountName") or "default")


def _place(content: Object) -> Object:
    about = {k: v for k, v in metadata_of(content).items() if k in {"name", "namespace"}}
    return {"apiVersion": content["apiVersion"], "kind": content["kind"], "metadata": about}
