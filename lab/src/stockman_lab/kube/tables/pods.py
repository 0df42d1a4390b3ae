"""Cells of pods."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.kube.tables.ages import Ages, seconds_of
from stockman_lab.kube.tables.printing import (
    NONE,
    Cells,
    Object,
    at,
    created,
    is_being_deleted,
    is_true,
    listed,
    name_of,
    number,
    text,
)

_UNREACHABLE = "NodeLost"


@dataclass
class _Tally:
    """What is counted over the containers of a pod."""

    restarts: int = 0
    restarted: str = ""
    """When the last container ended that was started again."""
    ready: int = 0

    def add(self, status: Object) -> None:
        self.restarts += number(status, "restartCount")
        ended = text(status, "lastState", "terminated", "finishedAt")
        if ended and (not self.restarted or seconds_of(ended) > seconds_of(self.restarted)):
            self.restarted = ended


def pod_cells(pod: Object, ages: Ages) -> Cells:
    """Name, ready, status, restarts, age, address, node, nominated node, readiness gates."""
    tally, reason, total = _read(pod)
    restarts = str(tally.restarts)
    if tally.restarts and tally.restarted:
        restarts = f"{tally.restarts} ({ages.since(tally.restarted)} ago)"
    addresses = listed(pod, "status", "podIPs")
    return [
        name_of(pod),
        f"{tally.ready}/{total}",
        reason,
        restarts,
        ages.since(created(pod)),
        text(addresses[0], "ip", default=NONE) if addresses else NONE,
        text(pod, "spec", "nodeName", default=NONE),
        text(pod, "status", "nominatedNodeName", default=NONE),
        _gates(pod),
    ]


def _read(pod: Object) -> tuple[_Tally, str, int]:
    """Counts, the word for the status, and how many containers could be ready."""
    phase = text(pod, "status", "phase")
    reason = text(pod, "status", "reason", default=phase)
    for one in listed(pod, "status", "conditions"):
        if (one.get("type"), one.get("reason")) == ("PodScheduled", "SchedulingGated"):
            reason = "SchedulingGated"
    sidecars = {
        one["name"]
        for one in listed(pod, "spec", "initContainers")
        if one.get("restartPolicy") == "Always"
    }
    everything, beside = _Tally(), _Tally()
    waiting = _initializing(pod, sidecars, everything, beside)
    tally = everything
    if not waiting or is_true(pod, "Initialized"):
        tally = beside
        reason = _running(pod, tally, waiting or reason)
    else:
        tally.ready = beside.ready
        reason = waiting
    if is_being_deleted(pod):
        if text(pod, "status", "reason") == _UNREACHABLE:
            reason = "Unknown"
        elif phase not in ("Succeeded", "Failed"):
            reason = "Terminating"
    return tally, reason, len(listed(pod, "spec", "containers")) + len(sidecars)


def _initializing(pod: Object, sidecars: set[str], everything: _Tally, beside: _Tally) -> str:
    """What the first init container that is not done is at; empty: all are done."""
    count = len(listed(pod, "spec", "initContainers"))
    for place, status in enumerate(listed(pod, "status", "initContainerStatuses")):
        everything.add(status)
        is_sidecar = status.get("name") in sidecars
        if is_sidecar:
            beside.add(status)
        ended = at(status, "state", "terminated")
        if ended is not None and not number(ended, "exitCode"):
            continue
        if is_sidecar and status.get("started"):
            beside.ready += bool(status.get("ready"))
            continue
        if ended is not None:
            return f"Init:{_ending(ended)}"
        waits = text(status, "state", "waiting", "reason")
        if waits and waits != "PodInitializing":
            return f"Init:{waits}"
        return f"Init:{place}/{count}"
    return ""


def _running(pod: Object, tally: _Tally, reason: str) -> str:
    """What the containers themselves are at."""
    is_running, failure = False, ""
    for status in reversed(listed(pod, "status", "containerStatuses")):
        tally.add(status)
        ended = at(status, "state", "terminated")
        waits = text(status, "state", "waiting", "reason")
        if waits:
            reason = waits
        elif ended is not None:
            reason = _ending(ended)
            if number(ended, "exitCode"):
                failure = reason
        elif status.get("ready") and at(status, "state", "running") is not None:
            is_running = True
            tally.ready += 1
    if reason != "Completed":
        return reason
    if is_running and is_true(pod, "Ready"):
        return "Running"
    return failure or ("NotReady" if is_running else reason)


def _ending(ended: Object) -> str:
    if ending := text(ended, "reason"):
        return ending
    if signal := number(ended, "signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{number(ended, 'exitCode')}"


def _gates(pod: Object) -> str:
    gates = listed(pod, "spec", "readinessGates")
    if not gates:
        return NONE
    return f"{sum(is_true(pod, gate['conditionType']) for gate in gates)}/{len(gates)}"
