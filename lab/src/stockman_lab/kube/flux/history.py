"""What a Kustomization applied before, and how that went."""

from __future__ import annotations

from stockman_lab.kube.flux.attempts import span_text
from stockman_lab.kube.objects import Object

_MOST = 5


def record(status: Object, attempt: Object, today: str, outcome: str) -> None:
    """Add an attempt to the history of a status, the newest first; the same counts together."""
    history, digest = status.get("history") or [], attempt["checksum"]
    before = next((one for one in history if one.get("digest") == digest), None)
    made = {
        "digest": digest,
        "firstReconciled": before["firstReconciled"] if before else today,
        "lastReconciled": today,
        "lastReconciledDuration": span_text(float(attempt["took"])),
        "lastReconciledStatus": outcome,
        "metadata": {"revision": attempt["revision"]},
        "totalReconciliations": (before["totalReconciliations"] if before else 0) + 1,
    }
    rest = [one for one in history if one.get("digest") != digest]
    status["history"] = [made, *rest][:_MOST]
