"""Pods that make room for one of a higher priority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from stockman_lab.kube.nodes.scheduling.filters import Question, Refusal, asked, refusal
from stockman_lab.kube.nodes.scheduling.picture import Place, Seat
from stockman_lab.kube.objects import metadata_of

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
_NEVER = "not eligible due to preemptionPolicy=Never."


@dataclass(frozen=True, slots=True)
class Preemption:
    """What comes of it."""

    counts: Counter[str] = field(default_factory=Counter)
    """How often which reason speaks against it."""
    node: str = ""
    victims: tuple[Seat, ...] = ()
    text: str = ""
    """Why it is not even tried."""


def preempt(question: Question, refused: Mapping[str, Refusal]) -> Preemption:
    """Find pods that make room; those of the lowest priority, and as few as possible."""
    if question.seat.spec.get("preemptionPolicy") == "Never":
        return Preemption(text=_NEVER)
    counts: Counter[str] = Counter()
    found: list[tuple[tuple[int, int, int], str, tuple[Seat, ...]]] = []
    for name, why in refused.items():
        if why.is_final:
            counts[NOT_HELPFUL] += 1
            continue
        victims = _victims(question, question.picture.places[name])
        if not victims:
            counts[NO_VICTIMS] += 1
            continue
        highest = max(victim.priority for victim in victims)
        total = sum(victim.priority + (1 << 31) for victim in victims)
        found.append(((highest, total, len(victims)), name, victims))
    if not found:
        return Preemption(counts)
    _, node, victims = min(found, key=lambda one: one[:2])
    return Preemption(counts, node, victims)


def _victims(question: Question, place: Place) -> tuple[Seat, ...]:
    """Pods of a node that have to go. Empty: it does not help, or nobody may be sent away."""
    lower = [one for one in place.seats.values() if one.priority < question.seat.priority]
    if not lower:
        return ()
    picture = question.picture
    pods = {one.uid: one.pod for one in lower}
    for uid in pods:
        picture.lose_pod(uid)
    try:
        if _is_refused(question, place):
            return ()
        victims: list[Seat] = []
        for seat in sorted(lower, key=_importance):
            picture.see_pod(seat.pod)
            if _is_refused(question, place):
                picture.lose_pod(seat.uid)
                victims.append(seat)
        return tuple(victims)
    finally:
        for pod in pods.values():
            picture.see_pod(pod)


def _is_refused(question: Question, place: Place) -> bool:
    only = None if question.only is None else set(question.only)
    anew = asked(question.seat, question.picture, question.spaces, only, question.volumes)
    return refusal(anew, place) is not None


def _importance(seat: Seat) -> tuple[int, str]:
    return -seat.priority, str(metadata_of(seat.pod).get("creationTimestamp", ""))
