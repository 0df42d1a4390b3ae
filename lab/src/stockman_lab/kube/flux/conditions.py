"""Conditions of Flux's objects: what changed when, in the order in which it keeps them."""

from __future__ import annotations

from stockman_lab.kube.objects import Object

READY, RECONCILING, STALLED, HEALTHY = "Ready", "Reconciling", "Stalled", "Healthy"
_WEIGHTS = {STALLED: 0, RECONCILING: 1, READY: 2}


class Conditions:
    """The conditions of one object, for the generation that is looked at."""

    def __init__(self, result: object, generation: int, today: str) -> None:
        listed = result if isinstance(result, list) else []
        self._all: dict[str, Object] = {str(item["type"]): dict(item) for item in listed}
        self._generation = generation
        self._today = today

    def get(self, kind: str) -> Object:
        """One condition; an empty object where there is none."""
        return self._all.get(kind, {})

    def is_true(self, kind: str) -> bool:
        return self.get(kind).get("status") == "True"

    def mark(self, kind: str, status: bool | None, reason: str, message: str) -> None:
        """Say how something is; None: nobody knows."""
        word = "Unknown" if status is None else str(status)
        before = self.get(kind)
        is_same = [before.get(part) for part in ("status", "reason", "message")] == [
            *(word, reason, message)
        ]
        self._all[kind] = {
            "lastTransitionTime": before["lastTransitionTime"] if is_same else self._today,
            "message": message,
            "observedGeneration": self._generation,
            "reason": reason,
            "status": word,
            "type": kind,
        }

    def reconciling(self, reason: str, message: str) -> None:
        """Say that something is going on."""
        self.drop(STALLED)
        self.mark(RECONCILING, True, reason, message)

    def stalled(self, reason: str, message: str) -> None:
        """Say that nothing will go on."""
        self.drop(RECONCILING)
        self.mark(STALLED, True, reason, message)

    def drop(self, *kinds: str) -> None:
        for kind in kinds:
            self._all.pop(kind, None)

    def listed(self) -> list[Object]:
        """All of them in their order."""
        return sorted(self._all.values(), key=_place)


def _place(content: Object) -> tuple[int, int, str]:
    kind = str(content["type"])
    weight = _WEIGHTS.get(kind)
    if weight is not None:
        return (weight, 0, "")
    return (len(_WEIGHTS), -int(content.get("observedGeneration") or 0), kind)
