"""What the helm-controller does next with a release, and how it says how that went."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.kube.controllers.recorder import Recorder
from stockman_lab.kube.flux.helm_policies import Policies, shown
from stockman_lab.kube.flux.helm_sources import Loaded
from stockman_lab.kube.flux.helm_status import (
    Standing,
    chart_name,
    digest,
    full_name,
    inventory,
    observed_digest,
    snapshot,
)
from stockman_lab.kube.helm.engine import Helm, HelmFailed, ReleaseSpec
from stockman_lab.kube.helm.release import Release
from stockman_lab.kube.objects import Object, metadata_of, part_of

_SOON = 1.0
_LABELS = ("helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace")


@dataclass(frozen=True, slots=True)
class Order:
    """What a HelmRelease wants."""

    content: Object
    chart: Loaded
    values: Object
    name: str
    namespace: str
    storage: str


class Failed(Exception):
    """An action failed."""

    def __init__(
        self, seconds: float = _SOON, *, is_final: bool = False, is_patient: bool = False
    ) -> None:
        super().__init__()
        self.seconds = seconds
        """Until it is looked at again, unless it is retried."""
        self.is_final = is_final
        self.is_patient = is_patient
        """Whether nobody hurries for the next time."""


@dataclass(slots=True)
class Actions:
    """On the release of one HelmRelease."""

    helm: Helm
    recorder: Recorder
    now: float

    def next(self, order: Order, standing: Standing, policies: Policies) -> Object | None:
        """Begin what has to be done; None: nothing. Raises `Failed`."""
        try:
            last = self.helm.last(order.name, order.storage)
        except HelmFailed as why:
            standing.mark(
                "Ready", "False", "StateError", f"Could not determine release state: {why}"
            )
            raise Failed(10.0, is_patient=True) from None
        history = standing.status.get("history") or []
        if last is not None and last.is_pending:
            self._unlock(order, standing, last)
            last = self.helm.last(order.name, order.storage)
        if last is None or last.status == "uninstalled":
            if policies.is_exhausted("install"):
                self._stall(standing, "install", policies)
            return self._begin(order, standing, policies, "install", None)
        if not history or history[0].get("digest") != observed_digest(last):
            standing.status["history"] = []
            return self._begin(order, standing, policies, "upgrade", last)
        if last.status == "failed":
            return self._after_failure(order, standing, policies, last)
        if not _is_wanted(order, last):
            if policies.is_exhausted("upgrade"):
                self._stall(standing, "upgrade", policies)
            return self._begin(order, standing, policies, "upgrade", last)
        return self._in_sync(standing)

    def _in_sync(self, standing: Standing) -> Object | None:
        history = standing.status.get("history") or []
        standing.status["history"] = history[:2]
        if standing.condition("Remediated").get("status") == "True":
            standing.drop("Remediated")
            text = f"Helm upgrade succeeded for release {_both(history[0])}"
            standing.mark("Released", "True", "UpgradeSucceeded", text)
        standing.drop("Reconciling")
        standing.summarize()
        return None

    def _begin(
        self,
        order: Order,
        standing: Standing,
        policies: Policies,
        action: str,
        last: Release | None,
    ) -> Object:
        seconds = policies.timeout(action)
        text = f"Running '{action}' action with timeout of {shown(seconds)}"
        standing.reconciling("Progressing", text)
        standing.mark("Ready", "Unknown", "Progressing", text)
        standing.drop("TestSuccess", "Remediated")
        standing.status["lastAttemptedReleaseAction"] = action
        if action == "install":
            standing.status["history"] = []
        release_spec = _release_spec(order, policies.of(action), action)
        try:
            if last is None:
                begin_install = self.helm.begin_install(release_spec)
            else:
                begin_install = self.helm.begin_upgrade(release_spec, last)
        except HelmFailed as why:
            self._note_release_failure(order, standing, action, str(why))
            raise Failed from None
        return {
            "action": action,
            "revision": begin_install.revision,
            "until": self.now + seconds,
            "since": self.now,
            "waits": policies.waits(action),
            "digest": order.chart.digest,
            "chart": f"{begin_install.chart['name']}@{begin_install.chart['version']}",
        }

    def is_over(self, note: Object, standing: Standing, policies: Policies) -> bool:
        """Whether what was begun is done; raises `Failed`."""
        order, action = note["order"], str(note["action"])
        release = self._found(order, int(note["revision"]))
        if release is None:
            return True
        try:
            left = self.helm.waiting(release) if note["waits"] else []
            if left and self.now < note["until"]:
                return False
            if left:
                self._too_late(release, note, standing, left)
                raise Failed
            self.helm.finish(release, order["storage"])
        except HelmFailed as why:
            self._note_failure(standing, action, order, str(note["chart"]), str(why))
            raise Failed from None
        self._record(standing, release, action, str(note["digest"]))
        if action == "rollback":
            return True
        told = standing.status["history"][0]
        done = f"Helm {action} succeeded for release {_both(told)}"
        reason = f"{action.capitalize()}Succeeded"
        standing.mark("Released", "True", reason, done)
        spent = max(self.now - float(note["since"]), 0.0)
        standing.status["lastAttemptedReleaseActionDuration"] = f"{spent:.3f}s"
        if policies.retry() is not None:
            _forget_failures(standing)
        standing.summarize()
        self.recorder.normal(standing.content, reason, done)
        return True

    def uninstall(self, content: Object) -> None:
        """Take the release of a HelmRelease away that goes."""
        history = part_of(content, "status").get("history") or []
        storage = str(part_of(content, "status").get("storageNamespace") or "")
        if not history or not storage:
            return
        told = history[0]
        keep = bool(part_of(content, "spec", "uninstall").get("keepHistory"))
        gone = self.helm.uninstall(str(told["name"]), storage, keep=keep)
        if gone is not None:
            text = f"Helm uninstall succeeded for release {_both(told)}"
            self.recorder.normal(content, "UninstallSucceeded", text)

    # -- failures ------------------------------------------------------------------------------

    def _too_late(
        self, release: Release, note: Object, standing: Standing, left: list[tuple[Object, str]]
    ) -> None:
        shown_left = " ".join(
            f"{one['kind']}/{metadata_of(one).get('namespace', '')}/{metadata_of(one)['name']}"
            " status: 'InProgress'"
            for one, _ in left
        )
        why = f"timeout waiting for: [{shown_left}]"
        action, order = str(note["action"]), note["order"]
        self.helm.fail(release, why, order["storage"])
        self._record(standing, release, action, str(note["digest"]))
        self._note_failure(standing, action, order, str(note["chart"]), why)
        _count(standing, action)

    def _note_release_failure(
        self, order: Order, standing: Standing, action: str, why: str
    ) -> None:
        chart = f"{order.chart.chart.name}@{order.chart.version}"
        where = {"name": order.name, "namespace": order.namespace}
        self._note_failure(standing, action, where, chart, why)
        last = self._newest(order)
        if last is not None and last.status == "failed":
            self._record(standing, last, action, order.chart.digest)
            _count(standing, action)

    def _note_failure(
        self, standing: Standing, action: str, order: Object, chart: str, why: str
    ) -> None:
        key = f"{order['namespace']}/{order['name']}"
        text = f"Helm {action} failed for release {key} with chart {chart}: {why.strip()}"
        reason = f"{action.capitalize()}Failed"
        standing.status["failures"] = int(standing.status.get("failures", 0)) + 1
        standing.mark("Released", "False", reason, text)
        standing.summarize()
        self.recorder.warning(standing.content, reason, text)

    def _after_failure(
        self, order: Order, standing: Standing, policies: Policies, last: Release
    ) -> Object | None:
        action = policies.last_action or "install"
        if policies.retry() is not None or not policies.failures(action):
            return self._begin(order, standing, policies, "upgrade", last)
        if policies.is_exhausted(action) and not policies.remedies_last(action):
            self._stall(standing, action, policies)
        self._remedy(order, standing, policies.remedy(action), last)
        if policies.is_exhausted(action):
            self._stall(standing, action, policies)
        message = str(standing.condition("Ready").get("message", ""))
        standing.reconciling("ProgressingWithRetry", message)
        raise Failed

    def _remedy(self, order: Order, standing: Standing, how: str, last: Release) -> None:
        history = standing.status.get("history") or []
        if how == "uninstall":
            gone = self.helm.uninstall(order.name, order.storage, keep=False)
            told = history[0]
            if gone is not None:
                history[0] = {**told, "status": "uninstalled", "digest": observed_digest(gone)}
            text = f"Helm uninstall remediation for release {_both(told)} succeeded"
            self._note_remedy(standing, "UninstallSucceeded", text)
            return
        good = next((one for one in history[1:] if one.get("status") != "failed"), None)
        revision = int(good["version"]) if good is not None else 0
        target = self._found(_places(order), revision) if good is not None else None
        if good is None or target is None:
            text = "missing target release for rollback: cannot remediate failed release"
            standing.stalled("MissingRollbackTarget", f"Failed to perform remediation: {text}")
            raise Failed(is_final=True)
        rollback = self.helm.rollback(target, last, order.storage)
        self.helm.finish(rollback, order.storage)
        self._record(standing, rollback, "rollback", str(good.get("ociDigest", "")))
        text = f"Helm rollback to previous release {_both(good)} succeeded"
        self._note_remedy(standing, "RollbackSucceeded", text)

    def _note_remedy(self, standing: Standing, reason: str, text: str) -> None:
        standing.mark("Remediated", "True", reason, text)
        standing.summarize()
        self.recorder.normal(standing.content, reason, text)

    def _stall(self, standing: Standing, action: str, policies: Policies) -> None:
        count = policies.failures(action)
        name = policies.last_action or action
        standing.stalled("RetriesExceeded", f"Failed to {name} after {count} attempt(s)")
        raise Failed(is_final=True)

    def _unlock(self, order: Order, standing: Standing, last: Release) -> None:
        was = last.status
        last.status = "failed"
        last.description = f"Release unlocked from stale '{was}' state"
        self.helm.write_down(last, order.storage)
        told = snapshot(last, "upgrade", order.chart.digest)
        text = f"Unlocked Helm release {_both(told)} in {was} state"
        standing.mark("Released", "False", "PendingRelease", text)
        self.recorder.normal(standing.content, "PendingRelease", text)

    # -- what is remembered --------------------------------------------------------------------

    def _record(self, standing: Standing, release: Release, action: str, oci: str) -> None:
        told = snapshot(release, action, oci)
        history = standing.status.get("history") or []
        others = [one for one in history if one.get("version") != release.revision]
        for release_entry in others:
            if release_entry.get("status") == "deployed" and release.status == "deployed":
                release_entry["status"] = "superseded"
        standing.status["history"] = [told, *others][:5]
        standing.status["inventory"] = inventory(release)

    def _newest(self, order: Order) -> Release | None:
        try:
            return self.helm.last(order.name, order.storage)
        except HelmFailed:
            return None

    def _found(self, order: Object, revision: int) -> Release | None:
        for release in self.helm.history(str(order["name"]), str(order["storage"])):
            if release.revision == revision:
                return release
        return None


def _release_spec(order: Order, told: Object, action: str) -> ReleaseSpec:
    about = metadata_of(order.content)
    usual = "Create" if action == "install" else "Skip"
    return ReleaseSpec(
        order.name,
        order.namespace,
        order.chart.chart,
        order.values,
        storage=order.storage,
        version=order.chart.version,
        create_namespace=bool(told.get("createNamespace")),
        definitions="Skip" if told.get("skipCRDs") else str(told.get("crds") or usual),
        take_ownership=not told.get("disableTakeOwnership"),
        labels=dict(zip(_LABELS, (about["name"], about["namespace"]), strict=True)),
    )


def _is_wanted(order: Order, last: Release) -> bool:
    return (
        last.chart.get("name") == order.chart.chart.name
        and last.chart.get("version") == order.chart.version
        and digest(last.values) == digest(order.values)
    )


def _count(standing: Standing, action: str) -> None:
    name = f"{action}Failures"
    standing.status[name] = int(standing.status.get(name, 0)) + 1


def _forget_failures(standing: Standing) -> None:
    for name in ("failures", "installFailures", "upgradeFailures"):
        standing.status.pop(name, None)


def _both(content: Object) -> str:
    return f"{full_name(content)} with chart {chart_name(content)}"


def _places(order: Order) -> Object:
    return {"name": order.name, "namespace": order.namespace, "storage": order.storage}
