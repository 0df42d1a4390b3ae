"""Jobs: pods that come to an end, as often as wanted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stockman_lab.kube.controllers import pods as pod_facts
from stockman_lab.kube.controllers.client import Refused, read_time
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange
from stockman_lab.kube.controllers.ownership import claimed
from stockman_lab.kube.objects import Object, copied, entries_of, metadata_of, part_of

TRACKING = "batch.kubernetes.io/job-tracking"
_BACKOFF, _MOST_BACKOFF = 10.0, 600.0
_ENDS = ("Complete", "Failed")


@dataclass(slots=True)
class _Work:
    """One job as it is brought in order."""

    found: Object
    status: Object
    active: list[Object]
    going: int
    pods: list[Object] = field(default_factory=list)

    @property
    def spec(self) -> Object:
        return part_of(self.found, "spec")


class Jobs(Controller):
    """Makes pods until enough have succeeded, or too many have failed."""

    name = "job"
    component = "job-controller"
    watches = ("jobs", "pods")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Of a pod: its owner, or whoever may adopt it."""
        if change.key.resource == "pods":
            return pod_facts.touched_owners(change, self.objects, "jobs", "Job")
        return (change.name,)

    def sync(self, key: str) -> None:
        """Count what ended, make what is missing, tell how it stands."""
        jobs = self.objects.get("jobs", key)
        if jobs is None:
            return
        pods = claimed(jobs, "pods", self.objects, self.client)
        if is_ended(jobs) or metadata_of(jobs).get("deletionTimestamp"):
            self._untrack(
                [
                    pod
                    for pod in pods
                    if pod_facts.phase(pod) in {"Succeeded", "Failed"} or pod_facts.is_going(pod)
                ]
            )
            return
        status = copied(part_of(jobs, "status"))
        active = [pod for pod in pods if pod_facts.is_active(pod)]
        going = sum(
            pod_facts.is_going(pod) and pod_facts.phase(pod) not in {"Succeeded", "Failed"}
            for pod in pods
        )
        work = _Work(jobs, status, active, going, pods)
        if not status.get("startTime") and not work.spec.get("suspend"):
            status["startTime"] = self.today
        self._count(work)
        verdict = self._verdict(work)
        if verdict is not None:
            self._end(work, *verdict)
        elif work.spec.get("suspend"):
            self._suspend(work)
        else:
            self._resume(work)
            self._manage(key, work)
        self._tell(key, work)

    # -- counting ------------------------------------------------------------------------------

    def _count(self, work: _Work) -> None:
        """Count pods that ended, each once: until its finalizer is gone, it is noted by its id."""
        ended = [pod for pod in work.pods if _is_tracked(pod) and _has_ended(pod)]
        if not ended:
            return
        status = work.status
        good = [item for item in ended if pod_facts.phase(item) == "Succeeded"]
        bad = [item for item in ended if pod_facts.phase(item) != "Succeeded"]
        status["succeeded"] = status.get("succeeded", 0) + len(good)
        status["failed"] = status.get("failed", 0) + len(bad)
        self._untrack(ended)

    def _untrack(self, pods: list[Object]) -> None:
        for pod in pods:
            if _is_tracked(pod):
                gone = {"metadata": {"$deleteFromPrimitiveList/finalizers": [TRACKING]}}
                try:
                    self.client.patch_by_keys(pod, gone)
                except Refused as why:
                    if not why.is_absent:
                        raise

    # -- the end -------------------------------------------------------------------------------

    def _verdict(self, work: _Work) -> tuple[str, str, str] | None:
        spec, status = work.spec, work.status
        failed = status.get("failed", 0)
        limit = spec.get("backoffLimit", 6)
        again = part_of(spec, "template", "spec").get("restartPolicy") == "OnFailure"
        restarts = sum(
            entry.get("restartCount", 0)
            for pod in work.active
            for entry in entries_of(pod, "status", "containerStatuses")
        )
        if failed > limit or (again and restarts and restarts >= limit):
            text = "Job has reached the specified backoff limit"
            return "Failed", "BackoffLimitExceeded", text
        started = read_time(status.get("startTime"))
        most = spec.get("activeDeadlineSeconds")
        if most is not None and started and self.now >= started + most and not spec.get("suspend"):
            text = "Job was active longer than specified deadline"
            return "Failed", "DeadlineExceeded", text
        succeeded, completions = status.get("succeeded", 0), spec.get("completions")
        enough = (
            succeeded > 0 and not work.active if completions is None else succeeded >= completions
        )
        if enough:
            text = "Reached expected number of succeeded pods"
            return "Complete", "CompletionsReached", text
        return None

    def _end(self, work: _Work, kind: str, reason: str, message: str) -> None:
        for pod in work.active:
            self._drop(work, pod)
        status = work.status
        target = "FailureTarget" if kind == "Failed" else "SuccessCriteriaMet"
        if not any(condition["type"] == target for condition in status.get("conditions") or []):
            self._condition(status, target, "True", reason, message)
        left = [
            item
            for item in claimed(work.found, "pods", self.objects, self.client)
            if pod_facts.phase(item) not in {"Succeeded", "Failed"}
        ]
        work.active = [item for item in left if not pod_facts.is_going(item)]
        work.going = len(left) - len(work.active)
        if left:
            return
        self._condition(status, kind, "True", reason, message)
        if kind == "Complete":
            status["completionTime"] = self.today
            self.recorder.normal(work.found, "Completed", "Job completed")
        else:
            self.recorder.warning(work.found, reason, message)

    def _condition(self, status: Object, kind: str, value: str, reason: str, message: str) -> None:
        conditions = [
            condition for condition in status.get("conditions") or [] if condition["type"] != kind
        ]
        result = {
            "type": kind,
            "status": value,
            "lastProbeTime": self.today,
            "lastTransitionTime": self.today,
            "reason": reason,
            "message": message,
        }
        status["conditions"] = [*conditions, result]

    # -- pods ----------------------------------------------------------------------------------

    def _drop(self, work: _Work, pod: Object) -> None:
        self._untrack([pod])
        self.client.delete(pod)
        name = metadata_of(pod)["name"]
        self.recorder.normal(work.found, "SuccessfulDelete", f"Deleted pod: {name}")

    def _suspend(self, work: _Work) -> None:
        for pod in work.active:
            self._drop(work, pod)
        work.active = []
        work.status.pop("startTime", None)
        if _suspension(work.status) != "True":
            self._condition(work.status, "Suspended", "True", "JobSuspended", "Job suspended")
            self.recorder.normal(work.found, "Suspended", "Job suspended")

    def _resume(self, work: _Work) -> None:
        if _suspension(work.status) == "True":
            self._condition(work.status, "Suspended", "False", "JobResumed", "Job resumed")
            self.recorder.normal(work.found, "Resumed", "Job resumed")

    def _manage(self, key: str, work: _Work) -> None:
        spec, status = work.spec, work.status
        parallel, completions = spec.get("parallelism", 1), spec.get("completions")
        succeeded = status.get("succeeded", 0)
        if completions is None:
            target = len(work.active) if succeeded else parallel
        else:
            target = min(parallel, completions - succeeded)
        surplus = len(work.active) - target
        if surplus > 0:
            ordered = sorted(work.active, key=lambda item: pod_facts.deletion_order(item, 0))
            for pod in ordered[:surplus]:
                self._drop(work, pod)
                work.active.remove(pod)
            return
        if spec.get("podReplacementPolicy") == "Failed":
            target -= work.going
        if target <= len(work.active):
            return
        ready_at = self._ready_at(work)
        if ready_at > self.now:
            self.look_again(key, ready_at)
            return
        for _ in range(target - len(work.active)):
            work.active.append(self._create(work))

    def _ready_at(self, work: _Work) -> float:
        """When the next pod may be made: the more failed in a row, the later."""
        last, count = 0.0, 0
        for pod in work.pods:
            if pod_facts.phase(pod) == "Failed":
                count += 1
                last = max(last, _end_time(pod))
            elif pod_facts.phase(pod) == "Succeeded":
                count = 0
        return last + min(_BACKOFF * 2.0 ** (count - 1), _MOST_BACKOFF) if count else 0.0

    def _create(self, work: _Work) -> Object:
        template = part_of(work.spec, "template")
        result = pod_facts.from_template(work.found, template)
        result["metadata"]["finalizers"] = [*result["metadata"].get("finalizers", ()), TRACKING]
        try:
            pod = self.client.create("v1", "Pod", result)
        except Refused as why:
            self.recorder.warning(work.found, "FailedCreate", f"Error creating: {why.message}")
            raise
        name = metadata_of(pod)["name"]
        self.recorder.normal(work.found, "SuccessfulCreate", f"Created pod: {name}")
        return pod

    # -- what is told --------------------------------------------------------------------------

    def _tell(self, key: str, work: _Work) -> None:
        status = work.status
        for name, value in (
            ("active", len(work.active)),
            ("succeeded", status.get("succeeded", 0)),
            ("failed", status.get("failed", 0)),
        ):
            if value:
                status[name] = value
            else:
                status.pop(name, None)
        status["ready"] = sum(pod_facts.is_ready(item) for item in work.active)
        status["terminating"] = work.going
        status["uncountedTerminatedPods"] = {}
        if status != part_of(work.found, "status"):
            self.client.update_status(work.found, status)
        most, started = work.spec.get("activeDeadlineSeconds"), status.get("startTime")
        if most is not None and started and not status.get("conditions"):
            self.look_again(key, read_time(started) + most, patient=True)


def is_ended(job: Object) -> bool:
    """Whether nothing more will happen with a job."""
    return any(
        entry["type"] in _ENDS and entry["status"] == "True"
        for entry in entries_of(job, "status", "conditions")
    )


def _is_tracked(pod: Object) -> bool:
    return TRACKING in (metadata_of(pod).get("finalizers") or ())


def _has_ended(pod: Object) -> bool:
    return pod_facts.phase(pod) in {"Succeeded", "Failed"} or pod_facts.is_going(pod)


def _suspension(status: Object) -> str:
    for condition in status.get("conditions") or []:
        if condition["type"] == "Suspended":
            return str(condition["status"])
    return ""


def _end_time(pod: Object) -> float:
    times = [
        read_time(part_of(entry, "state", "terminated").get("finishedAt"))
        for entry in entries_of(pod, "status", "containerStatuses")
    ]
    return max(times or [read_time(metadata_of(pod).get("creationTimestamp"))])


class TtlAfterFinished(Controller):
    """Deletes jobs whose time is over."""

    name = "ttl-after-finished"
    component = "ttl-after-finished-controller"
    watches = ("jobs",)

    def sync(self, key: str) -> None:
        """Delete a job, now or when it is time."""
        jobs = self.objects.get("jobs", key)
        if jobs is None or metadata_of(jobs).get("deletionTimestamp") or not is_ended(jobs):
            return
        seconds = part_of(jobs, "spec").get("ttlSecondsAfterFinished")
        if seconds is None:
            return
        ended = max(
            read_time(entry["lastTransitionTime"])
            for entry in entries_of(jobs, "status", "conditions")
            if entry["type"] in {"Complete", "Failed"}
        )
        if ended + seconds > self.now:
            self.look_again(key, ended + seconds, patient=True)
        else:
            self.client.delete(jobs, "Foreground")
