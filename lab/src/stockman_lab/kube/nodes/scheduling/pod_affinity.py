"""Pods that want to be near others, or far from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from stockman_lab.kube.api.object_selectors import selects
from stockman_lab.kube.nodes.scheduling.picture import Picture, Place, Seat
from stockman_lab.kube.objects import Object, entries_of, part_of

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NEAR, FAR = "podAffinity", "podAntiAffinity"
HOST = "kubernetes.io/hostname"
Pair = tuple[str, str]
"""A label of nodes: its name and its value."""
NamespaceLabels = Callable[[str], dict[str, str]]


def required_terms(seat: Seat, kind: str) -> list[Object]:
    """What a pod insists on."""
    return entries_of(seat.affinity, kind, REQUIRED)


def preferred_terms(seat: Seat, kind: str) -> Iterator[tuple[int, Object]]:
    """What a pod would like, with its weight."""
    for entry in entries_of(seat.affinity, kind, PREFERRED):
        yield int(entry.get("weight", 0)), part_of(entry, "podAffinityTerm")


def term_matches(term: Object, owner: Seat, other: Seat, spaces: NamespaceLabels) -> bool:
    """Whether a term of a pod means another one."""
    names = term.get("namespaces") or []
    chosen = term.get("namespaceSelector")
    if other.namespace in names:
        near = True
    elif chosen is not None:
        near = selects(chosen, spaces(other.namespace))
    else:
        near = not names and other.namespace == owner.namespace
    return (
        near
        and term.get("labelSelector") is not None
        and selects(_with_keys(term, owner), other.labels)
    )


def _with_keys(term: Object, owner: Seat) -> Object:
    selector: Object = dict(term["labelSelector"])
    more = [
        {"key": key, "operator": operator, "values": [owner.labels[key]]}
        for name, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in term.get(name) or []
        if key in owner.labels
    ]
    if more:
        selector["matchExpressions"] = [*(selector.get("matchExpressions") or []), *more]
    return selector


class Neighbours:
    """What the required terms of a pod, and of all others, make of the labels of nodes."""

    def __init__(self, seat: Seat, picture: Picture, spaces: NamespaceLabels) -> None:
        self._seat, self._spaces = seat, spaces
        self._near = required_terms(seat, NEAR)
        self._far = required_terms(seat, FAR)
        self._near_counts: Counter[Pair] = Counter()
        self._far_counts: Counter[Pair] = Counter()
        self._unwanted: Counter[Pair] = Counter()
        self._see_others(picture)
        if self._near or self._far:
            for place in picture.places.values():
                for other in place.seats.values():
                    self._count(place, other)

    def _see_others(self, picture: Picture) -> None:
        for other in picture.with_pod_affinity.values():
            node = picture.node_of(other)
            if node is None:
                continue
            for term in required_terms(other, FAR):
                pair = _pair(term, node)
                if pair and term_matches(term, other, self._seat, self._spaces):
                    self._unwanted[pair] += 1

    def _count(self, place: Place, other: Seat) -> None:
        if self._near and self._matches_all_near(other):
            for term in self._near:
                if pair := _pair(term, place):
                    self._near_counts[pair] += 1
        for term in self._far:
            pair = _pair(term, place)
            if pair and term_matches(term, self._seat, other, self._spaces):
                self._far_counts[pair] += 1

    def _matches_all_near(self, other: Seat) -> bool:
        return all(term_matches(one, self._seat, other, self._spaces) for one in self._near)

    def misses(self, place: Place) -> bool:
        """Whether nobody is on a node, or near it, whom the pod has to be with."""
        if not self._near:
            return False
        pairs = [_pair(term, place) for term in self._near]
        if not all(pairs):
            return True
        if all(self._near_counts[pair] for pair in pairs if pair):
            return False
        return bool(self._near_counts) or not self._matches_all_near(self._seat)

    def is_repelled(self, place: Place) -> bool:
        """Whether somebody is there whom the pod does not want."""
        pairs = (_pair(term, place) for term in self._far)
        return any(pair is not None and self._far_counts[pair] > 0 for pair in pairs)

    def is_unwanted(self, place: Place) -> bool:
        """Whether somebody is there who does not want the pod."""
        return bool(self._unwanted) and any(
            self._unwanted[pair] > 0 for pair in place.labels.items() if pair in self._unwanted
        )


def _pair(term: Object, place: Place) -> Pair | None:
    key = term.get("topologyKey", "")
    value = place.labels.get(key)
    return None if value is None else (key, value)


def likings(seat: Seat, picture: Picture, spaces: NamespaceLabels) -> Counter[Pair]:
    """How much labels of nodes speak for a pod, or against it."""
    counter: Counter[Pair] = Counter()
    own = [(weight, term) for weight, term in preferred_terms(seat, NEAR)]
    own += [(-weight, term) for weight, term in preferred_terms(seat, FAR)]
    if own:
        for place in picture.places.values():
            for other in place.seats.values():
                for weight, term in own:
                    pair = _pair(term, place)
                    if pair and term_matches(term, seat, other, spaces):
                        counter[pair] += weight
    for other in picture.with_pod_affinity.values():
        their = picture.node_of(other)
        if their is None:
            continue
        wishes = [(1, term) for term in required_terms(other, NEAR)]
        wishes += list(preferred_terms(other, NEAR))
        wishes += [(-weight, term) for weight, term in preferred_terms(other, FAR)]
        for weight, term in wishes:
            pair = _pair(term, their)
            if pair and term_matches(term, other, seat, spaces):
                counter[pair] += weight
    return counter
