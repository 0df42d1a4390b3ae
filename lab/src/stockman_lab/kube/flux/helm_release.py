"""The helm-controller: HelmReleases become releases of Helm."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange
from stockman_lab.kube.flux.helm_actions import Actions, Failed, Order
from stockman_lab.kube.flux.helm_policies import Policies, shown
from stockman_lab.kube.flux.helm_sources import (
    SOURCES,
    NoSource,
    NotReady,
    loaded,
    source_key,
    values_of,
)
from stockman_lab.kube.flux.helm_status import Standing, digest, has_gate, image_name, running_pod
from stockman_lab.kube.helm.engine import Helm
from stockman_lab.kube.helm.writer import Writer, account
from stockman_lab.kube.objects import Object, copied, entries_of, metadata_of, part_of
from stockman_lab.kube.programs import is_ready

GROUP = "helm.toolkit.fluxcd.io"
PLURAL = "helmreleases"
PROGRAM = "helm-controller"
FINALIZER = "finalizers.fluxcd.io"
REQUESTED = "reconcile.fluxcd.io/requestedAt"
_REQUEUE = 30.0
_NOTE = "helm-release "
_HOPEFUL = 3
"""So often a world hurries for what fails again and again."""


class HelmReleases(Controller):
    """Works while a pod of the helm-controller is ready."""

    name = PROGRAM
    component = PROGRAM
    watches = (
        f"{PLURAL}.{GROUP}",
        f"ocirepositories.{SOURCES}",
        "pods",
        "deployments",
        "daemonsets",
        "statefulsets",
        "jobs",
        "fluxinstances.fluxcd.controlplane.io",
    )

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """What a change of something is about."""
        if change.key.resource == PLURAL:
            return self._own(change)
        if change.key.resource == "ocirepositories":
            return self._fed_by(change)
        if change.key.resource == "pods":
            before, after = change.before or {}, change.after or {}
            began = image_name(after) == PROGRAM and is_ready(after) and not is_ready(before)
            return self._every() if began else ()
        return [note.removeprefix(_NOTE) for note in self.context.notes if note.startswith(_NOTE)]

    def _every(self) -> list[str]:
        return [_key(content) for content in self.objects.listed(PLURAL, group=GROUP)]

    def _own(self, change: ObjectChange) -> Iterator[str]:
        before, after = change.before, change.after
        if after is None:
            return
        if before is None or _request_marks(before) != _request_marks(after):
            yield change.name
        if _is_ready(after) and (before is None or not _is_ready(before)):
            for content in self.objects.listed(PLURAL, group=GROUP):
                space = metadata_of(content)["namespace"]
                for entry in entries_of(content, "spec", "dependsOn"):
                    if f"{entry.get('namespace') or space}/{entry.get('name')}" == change.name:
                        yield _key(content)

    def _fed_by(self, change: ObjectChange) -> Iterator[str]:
        for content in self.objects.listed(PLURAL, group=GROUP):
            if source_key(content) == (change.key.resource, change.name):
                yield _key(content)

    # -- one of them ---------------------------------------------------------------------------

    def sync(self, key: str) -> None:
        """Bring a HelmRelease one step further."""
        pod = running_pod(self.objects, PROGRAM)
        if pod is None:
            return
        patch = self.objects.get(PLURAL, key, GROUP)
        if patch is None:
            self.context.notes.pop(f"{_NOTE}{key}", None)
            return
        actions = Actions(self._helm(pod, patch), self.recorder, self.now)
        if metadata_of(patch).get("deletionTimestamp"):
            self._delete(key, patch, actions)
            return
        if FINALIZER not in (metadata_of(patch).get("finalizers") or ()):
            names = [*(metadata_of(patch).get("finalizers") or ()), FINALIZER]
            patch = self.client.patch(patch, {"metadata": {"finalizers": names}})
        standing = Standing(patch, copied(part_of(patch, "status")), self.now)
        if not part_of(patch, "spec").get("suspend"):
            self._reconcile(key, patch, standing, actions, pod)
        if not self.context.notes.get(f"{_NOTE}{key}"):
            self._note_request(patch, standing)
        self._write(patch, standing)

    def _helm(self, pod: Object, content: Object) -> Helm:
        name = str(part_of(content, "spec").get("serviceAccountName") or "")
        space = metadata_of(content)["namespace"] if name else metadata_of(pod)["namespace"]
        user = account(str(space), name or PROGRAM)
        return Helm(Writer(self.client.api, PROGRAM, user), self.context.clock)

    def _reconcile(
        self, key: str, content: Object, standing: Standing, actions: Actions, pod: Object
    ) -> None:
        text = self.context.notes.get(f"{_NOTE}{key}")
        note = json.loads(text) if text is not None else None
        if note is not None and not self._is_over(key, content, standing, actions, note):
            return
        standing.reconciling("Progressing", "Fulfilling prerequisites")
        order = self._order(key, content, standing, pod)
        if order is None:
            return
        self._reset(content, standing, order)
        try:
            note = actions.next(
                order, standing, Policies(part_of(content, "spec"), standing.status)
            )
        except Failed as failed:
            self._retry_later(key, content, standing, failed)
            return
        if note is None:
            standing.status["observedGeneration"] = standing.generation
            interval = Policies(part_of(content, "spec"), standing.status).interval
            self.look_again(key, self.now + interval, patient=True)
            return
        self.context.notes[f"{_NOTE}{key}"] = json.dumps({**note, "order": _kept(order)})
        self._write(content, standing)
        self.look_again(
            key, self.now if not note["waits"] else note["until"], patient=note["waits"]
        )
        self.look_again(key, self.now + 0.5)

    def _is_over(
        self, key: str, content: Object, standing: Standing, actions: Actions, note: Object
    ) -> bool:
        """Whether what is under way has come to an end."""
        policies = Policies(part_of(content, "spec"), standing.status)
        try:
            if not actions.is_over(note, standing, policies):
                self.look_again(key, note["until"], patient=True)
                return False
        except Failed as failed:
            self.context.notes.pop(f"{_NOTE}{key}", None)
            self._retry_later(key, content, standing, failed)
            return False
        self.context.notes.pop(f"{_NOTE}{key}", None)
        return True

    def _order(self, key: str, content: Object, standing: Standing, pod: Object) -> Order | None:
        """What a HelmRelease wants; None: it waits for something."""
        why = self._missing_dependency(content)
        if why:
            standing.mark("Ready", "False", "DependencyNotReady", why)
            self.recorder.normal(content, "DependencyNotReady", why)
            self.look_again(key, self.now + _REQUEUE, patient=True)
            return None
        tracks = not has_gate(pod, "DisableChartDigestTracking")
        try:
            chart = loaded(self.objects, content, tracks_digest=tracks)
            values = values_of(self.objects, content)
        except NotReady as late:
            standing.mark("Ready", "False", "SourceNotReady", str(late))
            self.look_again(key, self.now + _REQUEUE, patient=True)
            return None
        except NoSource as missing:
            standing.mark("Ready", "False", missing.reason, str(missing))
            if missing.reason == "ValuesError":
                self.recorder.warning(content, missing.reason, str(missing))
            self.look_again(key, self.now + _REQUEUE, patient=True)
            return None
        about = metadata_of(content)
        return Order(
            content,
            chart,
            values,
            name=str(part_of(content, "spec").get("releaseName") or _release_name(content)),
            namespace=str(part_of(content, "spec").get("targetNamespace") or about["namespace"]),
            storage=str(part_of(content, "spec").get("storageNamespace") or about["namespace"]),
        )

    def _missing_dependency(self, content: Object) -> str:
        space = metadata_of(content)["namespace"]
        for entry in entries_of(content, "spec", "dependsOn"):
            name = f"{entry.get('namespace') or space}/{entry.get('name')}"
            other = self.objects.get(PLURAL, name, GROUP)
            if other is None:
                what = f'{PLURAL}.{GROUP} "{entry.get("name")}" not found'
                return f"unable to get '{name}' dependency: {what}"
            if not _is_ready(other):
                return f"dependency '{name}' is not ready"
        return ""

    def _reset(self, content: Object, standing: Standing, order: Order) -> None:
        """Forget failures of what was wanted before."""
        status = standing.status
        now = {
            "lastAttemptedGeneration": standing.generation,
            "lastAttemptedRevision": order.chart.version,
            "lastAttemptedConfigDigest": digest(order.values),
        }
        if all(status.get(name) == one for name, one in now.items()):
            return
        for name in ("failures", "installFailures", "upgradeFailures"):
            status.pop(name, None)
        status.update(now)
        status["storageNamespace"] = order.storage
        if order.chart.digest:
            status["lastAttemptedRevisionDigest"] = order.chart.digest

    def _note_request(self, content: Object, standing: Standing) -> None:
        annotation = _annotation(content, REQUESTED)
        if annotation:
            standing.status["lastHandledReconcileAt"] = annotation

    def _retry_later(self, key: str, content: Object, standing: Standing, failed: Failed) -> None:
        policies = Policies(part_of(content, "spec"), standing.status)
        retry = policies.retry()
        if failed.is_final:
            standing.status["observedGeneration"] = standing.generation
            return
        count = int(standing.status.get("failures", 0))
        seconds = retry if retry is not None else failed.seconds
        if retry is not None:
            standing.reconciling("ProgressingWithRetry", f"retrying after {shown(retry)}")
        is_patient = failed.is_patient or count > _HOPEFUL
        self.look_again(key, self.now + seconds, patient=is_patient)

    def _delete(self, key: str, content: Object, actions: Actions) -> None:
        self.context.notes.pop(f"{_NOTE}{key}", None)
        names = [
            finalizer
            for finalizer in metadata_of(content).get("finalizers") or ()
            if finalizer != FINALIZER
        ]
        if names == (metadata_of(content).get("finalizers") or []):
            return
        if not part_of(content, "spec").get("suspend"):
            actions.uninstall(content)
        self.client.patch(content, {"metadata": {"finalizers": names or None}})

    def _write(self, content: Object, standing: Standing) -> None:
        fresh = self.objects.get(PLURAL, _key(content), GROUP)
        if fresh is None or standing.status == part_of(fresh, "status"):
            return
        try:
            self.client.update_status(fresh, standing.status)
        except Refused as why:
            if not why.is_absent:
                raise


def _key(content: Object) -> str:
    about = metadata_of(content)
    return f"{about['namespace']}/{about['name']}"


def _annotation(content: Object, name: str) -> str:
    return str(part_of(content, "metadata", "annotations").get(name, ""))


def _request_marks(content: Object) -> tuple[object, ...]:
    about = metadata_of(content)
    requested = _annotation(content, REQUESTED)
    return about.get("generation"), about.get("deletionTimestamp"), requested


def _is_ready(content: Object) -> bool:
    seen = part_of(content, "status").get("observedGeneration")
    return seen == metadata_of(content).get("generation") and any(
        entry.get("type") == "Ready" and entry.get("status") == "True"
        for entry in entries_of(content, "status", "conditions")
    )


def _release_name(content: Object) -> str:
    """The name of a release that does not give itself one."""
    about = metadata_of(content)
    target = part_of(content, "spec").get("targetNamespace")
    return f"{target}-{about['name']}" if target else str(about["name"])


def _kept(order: Order) -> Object:
    return {"name": order.name, "namespace": order.namespace, "storage": order.storage}
