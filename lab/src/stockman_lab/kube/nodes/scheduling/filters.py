"""Why a pod cannot run on a node, in the words and in the order of the scheduler's plugins."""

from __future__ import annotations

from dataclasses import dataclass, field

from stockman_lab.kube.nodes.scheduling.matching import selects_node, tolerates, untolerated
from stockman_lab.kube.nodes.scheduling.picture import Picture, Place, Port, Seat
from stockman_lab.kube.nodes.scheduling.pod_affinity import NamespaceLabels, Neighbours
from stockman_lab.kube.nodes.scheduling.spreading import Spreading
from stockman_lab.kube.objects import entries_of

_CLOSED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a node is not taken."""

    plugin: str
    reasons: tuple[str, ...]
    is_final: bool = False
    """Whether it would not help if other pods went away."""


@dataclass(frozen=True, slots=True)
class Question:
    """A pod that wants a node, and all nodes."""

    seat: Seat
    picture: Picture
    spaces: NamespaceLabels
    neighbours: Neighbours
    spreading: Spreading
    only: frozenset[str] | None = None
    volumes: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    """Terms of nodes that volumes of the pod can be reached from, by name of the volume."""


def asked(
    seat: Seat,
    picture: Picture,
    spaces: NamespaceLabels,
    only: set[str] | None,
    volumes: dict[str, list[dict[str, object]]] | None = None,
) -> Question:
    """All that is asked of every node alike."""
    return Question(
        seat,
        picture,
        spaces,
        Neighbours(seat, picture, spaces),
        Spreading(seat, picture),
        None if only is None else frozenset(only),
        volumes or {},
    )


def refusal(question: Question, place: Place) -> Refusal | None:
    """The first plugin that is against a node. None: the pod can run there."""
    seat = question.seat
    spec = seat.spec
    if question.only is not None and place.name not in question.only:
        return _final("NodeAffinity", "node(s) didn't satisfy plugin(s) [NodeAffinity]")
    if place.is_closed and not tolerates(entries_of(spec, "tolerations"), _CLOSED):
        return _final("NodeUnschedulable", "node(s) were unschedulable")
    taint = untolerated(place, spec)
    if taint is not None:
        return _final("TaintToleration", "node(s) had untolerated taint(s)")
    if not selects_node(spec, place):
        return _final("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
    if seat.ports and _ports_clash(seat.ports, place):
        text = "node(s) didn't have free ports for the requested pod ports"
        return Refusal("NodePorts", (text,))
    return _without_room(seat, place) or _volumes(question, place) or _others(question, place)


def _volumes(question: Question, place: Place) -> Refusal | None:
    from stockman_lab.kube.nodes.scheduling.matching import matches_term

    for terms in question.volumes.values():
        if not any(matches_term(term, place) for term in terms):
            text = "node(s) didn't match PersistentVolume's node affinity"
            return _final("VolumeBinding", text)
    return None


def _others(question: Question, place: Place) -> Refusal | None:
    spreading, neighbours = question.spreading, question.neighbours
    text = "node(s) didn't match pod topology spread constraints"
    if spreading.lacks_label(place):
        return _final("PodTopologySpread", f"{text} (missing required label)")
    if spreading.is_full(place):
        return Refusal("PodTopologySpread", (text,))
    if neighbours.misses(place):
        return _final("InterPodAffinity", "node(s) didn't match pod affinity rules")
    if neighbours.is_repelled(place):
        return Refusal("InterPodAffinity", ("node(s) didn't match pod anti-affinity rules",))
    if neighbours.is_unwanted(place):
        text = "node(s) didn't satisfy existing pods anti-affinity rules"
        return Refusal("InterPodAffinity", (text,))
    return None


def _final(plugin: str, reason: str) -> Refusal:
    return Refusal(plugin, (reason,), is_final=True)


def _ports_clash(ports: list[Port], place: Place) -> bool:
    return any(
        _clash(port, other)
        for port in ports
        for seat in place.seats.values()
        for other in seat.ports
    )


def _clash(one: Port, other: Port) -> bool:
    anywhere = "0.0.0.0"
    same_address = one[1] == other[1] or anywhere in (one[1], other[1])
    return one[0] == other[0] and one[2] == other[2] and same_address


def _without_room(seat: Seat, place: Place) -> Refusal | None:
    reasons, is_final = [], False
    if len(place.seats) + 1 > place.most_pods:
        reasons.append("Too many pods")
    for name, wanted in sorted(seat.wants.items(), key=_order):
        if not wanted:
            continue
        room = place.room.get(name, 0)
        if wanted > room - place.used.get(name, 0):
            reasons.append(f"Insufficient {name}")
            is_final |= wanted > room
    return Refusal("NodeResourcesFit", tuple(reasons), is_final) if reasons else None


def _order(asked: tuple[str, int]) -> tuple[int, str]:
    known = ("cpu", "memory", "ephemeral-storage")
    name = asked[0]
    return (known.index(name) if name in known else len(known), name)
