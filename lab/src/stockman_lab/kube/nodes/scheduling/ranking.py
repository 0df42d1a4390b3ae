"""How good nodes are for a pod that could run on any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stockman_lab.kube.nodes.scheduling.filters import Question
from stockman_lab.kube.nodes.scheduling.matching import matches_term, tolerates
from stockman_lab.kube.nodes.scheduling.picture import Place, Seat
from stockman_lab.kube.nodes.scheduling.pod_affinity import likings
from stockman_lab.kube.nodes.scheduling.requests import CPU, MEMORY
from stockman_lab.kube.nodes.scheduling.spreading import Spread, spread_scores
from stockman_lab.kube.objects import entries_of, part_of

_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_TAINTS, _AFFINITY, _SPREAD, _NEIGHBOURS = 3, 2, 2, 2
Points = Mapping[str, int]


def points(question: Question, fitting: Sequence[Place], spread: Spread) -> dict[str, int]:
    """Points of nodes by name; the most win."""
    total = dict.fromkeys((one.name for one in fitting), 0)
    for weight, found in (
        (_TAINTS, _by_taints(question.seat, fitting)),
        (_AFFINITY, _by_affinity(question.seat, fitting)),
        (1, {one.name: _least_used(question.seat, one) for one in fitting}),
        (1, _by_balance(question.seat, fitting)),
        (_SPREAD, spread_scores(question.seat, question.picture, fitting, spread)),
        (_NEIGHBOURS, _by_neighbours(question, fitting)),
    ):
        for name, value in (found or {}).items():
            total[name] += weight * value
    return total


def _by_taints(seat: Seat, fitting: Sequence[Place]) -> Points | None:
    if not any(one.taints for one in fitting):
        return None
    tolerations = [
        entry
        for entry in entries_of(seat.spec, "tolerations")
        if entry.get("effect") in (None, "", "PreferNoSchedule")
    ]
    counts = {
        place.name: sum(
            1
            for taint in place.taints
            if taint.get("effect") == "PreferNoSchedule" and not tolerates(tolerations, taint)
        )
        for place in fitting
    }
    most = max(counts.values(), default=0)
    return {name: 100 if not most else 100 - 100 * count // most for name, count in counts.items()}


def _by_affinity(seat: Seat, fitting: Sequence[Place]) -> Points | None:
    entries = entries_of(seat.affinity, "nodeAffinity", _PREFERRED)
    if not entries:
        return None
    counts = {
        place.name: sum(
            int(entry.get("weight", 0))
            for entry in entries
            if matches_term(part_of(entry, "preference"), place)
        )
        for place in fitting
    }
    most = max(counts.values(), default=0)
    return {name: 100 * count // most if most else 0 for name, count in counts.items()}


def _least_used(seat: Seat, place: Place) -> int:
    found = []
    for name in (CPU, MEMORY):
        room = place.room.get(name, 0)
        if not room:
            continue
        used = place.believed.get(name, 0) + seat.believed.get(name, 0)
        found.append(0 if used > room else (room - used) * 100 // room)
    return sum(found) // len(found) if found else 0


def _by_balance(seat: Seat, fitting: Sequence[Place]) -> Points | None:
    if not any(seat.wants.get(name) for name in (CPU, MEMORY)):
        return None
    return {place.name: _balance(seat, place) for place in fitting}


def _balance(seat: Seat, place: Place) -> int:
    return int(_evenness(place, seat) * 100)


def _evenness(place: Place, seat: Seat | None) -> float:
    parts = []
    for name in (CPU, MEMORY):
        room = place.room.get(name, 0)
        if room:
            used = place.used.get(name, 0) + (seat.wants.get(name, 0) if seat else 0)
            parts.append(min(used / room, 1.0))
    return 1 - abs(parts[0] - parts[1]) / 2 if len(parts) == 2 else 1.0


def _by_neighbours(question: Question, fitting: Sequence[Place]) -> Points | None:
    found = likings(question.seat, question.picture, question.spaces)
    if not found:
        return None
    counts = {
        place.name: sum(found[pair] for pair in place.labels.items() if pair in found)
        for place in fitting
    }
    most, least = max(counts.values()), min(counts.values())
    if most == least:
        return dict.fromkeys(counts, 0)
    return {name: 100 * (count - least) // (most - least) for name, count in counts.items()}
