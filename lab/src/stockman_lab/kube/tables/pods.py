"""Cells of pods."""

from __future__ import annotations

from stockman_lab.kube.tables.ages import Ages
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


def pod_cells(pod: Object, ages: Ages) -> Cells:
    """Name, ready, status, restarts, age, address, node, nominated node, readiness gates."""
    statuses = listed(pod, "status", "containerStatuses")
    restarted = sum(number(status, "restartCount") for status in statuses)
    ended = [
        moment
        for status in statuses
        if (moment := text(status, "lastState", "terminated", "finishedAt"))
    ]
    restarts = str(restarted)
    if restarted and ended:
        restarts = f"{restarted} ({ages.since(max(ended))} ago)"
    ready = sum(bool(status.get("ready")) for status in statuses)
    return [
        name_of(pod),
        f"{ready}/{len(listed(pod, 'spec', 'containers'))}",
        _status(pod),
        restarts,
        ages.since(created(pod)),
        text(pod, "status", "podIP", default=NONE),
        text(pod, "spec", "nodeName", default=NONE),
        text(pod, "status", "nominatedNodeName", default=NONE),
        NONE,
    ]


def _status(pod: Object) -> str:
    """The word for the status."""
    phase = text(pod, "status", "phase")
    if is_being_deleted(pod):
        is_lost = text(pod, "status", "reason") == _UNREACHABLE
        ended = phase in ("Succeeded", "Failed")
        return "Unknown" if is_lost else phase if ended else "Terminating"
    count = len(listed(pod, "spec", "initContainers"))
    for key, status in enumerate(listed(pod, "status", "initContainerStatuses")):
        word = _word(status)
        if word in ("Completed", "") or status.get("started"):
            continue
        if word != "PodInitializing":
            return f"Init:{word}"
        return f"Init:{key}/{count}"
    words = [_word(status) for status in listed(pod, "status", "containerStatuses")]
    told = [word for word in words if word]
    if "Completed" in told and is_true(pod, "Ready"):
        return "Running"
    return told[0] if told else text(pod, "status", "reason", default=phase)


def _word(status: Object) -> str:
    """Why a container waits, or how it ended; empty: it runs."""
    ended = at(status, "state", "terminated")
    if ended is not None:
        return text(ended, "reason") or f"ExitCode:{number(ended, 'exitCode')}"
    return text(status, "state", "waiting", "reason")
