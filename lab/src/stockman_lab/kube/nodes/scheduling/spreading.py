"""Pods that are spread over zones and hosts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stockman_lab.kube.api.object_selectors import selects
from stockman_lab.kube.nodes.scheduling.matching import selects_node, untolerated
from stockman_lab.kube.nodes.scheduling.picture import Flock, Picture, Place, Seat
from stockman_lab.kube.objects import Object, entries_of

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
_MUST, _SHOULD = "DoNotSchedule", "ScheduleAnyway"
Spread = Callable[[Seat], Object | None]
"""The selector of those whom a pod belongs to, as services and owners tell it."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """One rule of how pods are spread."""

    key: str
    skew: int
    selector: Object
    least_domains: int = 1
    honors_affinity: bool = True
    honors_taints: bool = False

    def counts(self, seat: Seat, place: Place) -> bool:
        """Whether a node is one of those among which a pod is spread."""
        if self.honors_affinity and not selects_node(seat.spec, place):
            return False
        return not self.honors_taints or untolerated(place, seat.spec) is None

    def on(self, place: Place, namespace: str, known: dict[Flock, bool]) -> int:
        """How many of those that are meant are on a node; what is known already is asked for."""
        count = 0
        for flock, size in place.flocks.items():
            if flock[0] != namespace:
                continue
            is_meant = known.get(flock)
            if is_meant is None:
                is_meant = known[flock] = selects(self.selector, dict(flock[1]))
            count += size if is_meant else 0
        return count


def constraints(seat: Seat, action: str) -> list[Constraint]:
    """What a pod says itself of how it is spread."""
    found = []
    for entry in entries_of(seat.spec, "topologySpreadConstraints"):
        if entry.get("whenUnsatisfiable") != action:
            continue
        selector = dict(entry.get("labelSelector") or {"matchExpressions": [_NOTHING]})
        more = [
            {"key": key, "operator": "In", "values": [seat.labels[key]]}
            for key in entry.get("matchLabelKeys") or []
            if key in seat.labels
        ]
        if more:
            selector["matchExpressions"] = [*(selector.get("matchExpressions") or []), *more]
        found.append(
            Constraint(
                key=entry["topologyKey"],
                skew=int(entry["maxSkew"]),
                selector=selector,
                least_domains=int(entry.get("minDomains") or 1),
                honors_affinity=entry.get("nodeAffinityPolicy", "Honor") == "Honor",
                honors_taints=entry.get("nodeTaintsPolicy", "Ignore") == "Honor",
            )
        )
    return found


_NOTHING = {"key": "", "operator": "In", "values": []}


class Spreading:
    """What constraints that must hold make of nodes."""

    def __init__(self, seat: Seat, picture: Picture) -> None:
        self._seat = seat
        self.constraints = constraints(seat, _MUST)
        self._counts: list[Counter[str]] = []
        keys = {one.key for one in self.constraints}
        for constraint in self.constraints:
            counts: Counter[str] = Counter()
            known: dict[Flock, bool] = {}
            for place in picture.places.values():
                if keys <= place.labels.keys() and constraint.counts(seat, place):
                    counts[place.labels[constraint.key]] += constraint.on(
                        place, seat.namespace, known
                    )
            self._counts.append(counts)

    def lacks_label(self, place: Place) -> bool:
        """Whether a node is outside of what pods are spread over."""
        return any(constraint.key not in place.labels for constraint in self.constraints)

    def is_full(self, place: Place) -> bool:
        """Whether one more pod would be one too many."""
        for constraint, counts in zip(self.constraints, self._counts, strict=True):
            least = min(counts.values(), default=0)
            if len(counts) < constraint.least_domains:
                least = 0
            itself = 1 if selects(constraint.selector, self._seat.labels) else 0
            if counts[place.labels[constraint.key]] + itself - least > constraint.skew:
                return True
        return False


def spread_scores(
    seat: Seat, picture: Picture, fitting: Sequence[Place], spread: Spread
) -> Mapping[str, int] | None:
    """Points of nodes: the fewer of the same kind are there, the more. None: it does not matter."""
    rules = constraints(seat, _SHOULD)
    demands_all = True
    if not rules and not entries_of(seat.spec, "topologySpreadConstraints"):
        selector = spread(seat)
        if selector is None:
            return None
        rules = [Constraint(HOST, 3, selector), Constraint(ZONE, 5, selector)]
        demands_all = False
    if not rules:
        return None
    keys = {one.key for one in rules}
    within = [one for one in fitting if not demands_all or keys <= one.labels.keys()]
    points: dict[str, float] = dict.fromkeys((one.name for one in within), 0.0)
    for rule in rules:
        for name, value in _points(rule, seat, picture, within, keys if demands_all else set()):
            points[name] += value
    return _normal({name: _round(value) for name, value in points.items()}, fitting)


def _points(
    rule: Constraint, seat: Seat, picture: Picture, within: Sequence[Place], keys: set[str]
) -> Iterator[tuple[str, float]]:
    domains = {one.labels[rule.key] for one in within if rule.key in one.labels}
    counts: Counter[str] = Counter()
    known: dict[Flock, bool] = {}
    if rule.key == HOST:
        size = len(within)
    else:
        size = len(domains)
        for place in picture.places.values() if domains else ():
            value = place.labels.get(rule.key)
            if value in domains and keys <= place.labels.keys() and rule.counts(seat, place):
                counts[str(value)] += rule.on(place, seat.namespace, known)
    weight = math.log(size + 2)
    for place in within:
        value = place.labels.get(rule.key)
        if value is None:
            continue
        count = rule.on(place, seat.namespace, known) if rule.key == HOST else counts[value]
        yield place.name, count * weight + (rule.skew - 1)


def _round(value: float) -> int:
    return math.floor(value + 0.5)


def _normal(points: Mapping[str, int], fitting: Sequence[Place]) -> dict[str, int]:
    most, least = max(points.values(), default=0), min(points.values(), default=0)
    normal = {}
    for place in fitting:
        if place.name not in points:
            normal[place.name] = 0
        elif most == 0:
            normal[place.name] = 100
        else:
            normal[place.name] = 100 * (most + least - points[place.name]) // most
    return normal
