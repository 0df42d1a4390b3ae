"""Noting in a pod why it was made to go."""

from __future__ import annotations

from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.objects import Object, copied, part_of


def disrupt(  # noqa: PLR0913  # the parts of a condition
    client: Client, pod: Object, reason: str, message: str, now: str, phase: str = ""
) -> None:
    """Give a pod the condition that says so."""
    status = copied(part_of(pod, "status"))
    conditions = [
        condition
        for condition in status.get("conditions") or []
        if condition["type"] != "DisruptionTarget"
    ]
    made = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }
    status["conditions"] = [*conditions, made]
    if phase:
        status["phase"] = phase
    try:
        client.update_status(pod, status)
    except Refused as why:
        if not why.is_absent:
            raise
