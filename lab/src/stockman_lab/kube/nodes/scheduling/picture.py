"""All nodes with the pods on them, as the scheduler sees them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stockman_lab.kube.nodes.scheduling.requests import (
    PODS,
    Amounts,
    amounts,
    believed_requests,
    requests,
)
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

_ENDED = frozenset({"Succeeded", "Failed"})
Flock = tuple[str, frozenset[tuple[str, str]]]
"""A namespace and labels: all that selectors ask of a pod."""
Port = tuple[str, str, int]
"""Protocol, address and number of a port of the host."""


class Seat:
    """A pod with what is asked of it again and again."""

    __slots__ = (
        "affinity",
        "believed",
        "flock",
        "labels",
        "namespace",
        "pod",
        "ports",
        "priority",
        "wants",
    )

    def __init__(self, pod: Object) -> None:
        self.pod = pod
        metadata, spec = metadata_of(pod), part_of(pod, "spec")
        self.namespace: str = metadata.get("namespace", "")
        self.labels: dict[str, str] = metadata.get("labels") or {}
        self.flock: Flock = (self.namespace, frozenset(self.labels.items()))
        self.wants = requests(pod)
        self.believed = believed_requests(pod)
        self.priority = int(spec.get("priority") or 0)
        self.affinity = part_of(spec, "affinity")
        self.ports: list[Port] = [
            (port.get("protocol", "TCP"), port.get("hostIP", "") or "0.0.0.0", port["hostPort"])
            for container in entries_of(spec, "containers")
            for port in entries_of(container, "ports")
            if port.get("hostPort")
        ]

    @property
    def name(self) -> str:
        return str(metadata_of(self.pod).get("name", ""))

    @property
    def uid(self) -> str:
        return str(metadata_of(self.pod).get("uid", ""))

    @property
    def is_going(self) -> bool:
        return bool(metadata_of(self.pod).get("deletionTimestamp"))

    @property
    def spec(self) -> Object:
        return part_of(self.pod, "spec")


@dataclass(slots=True)
class Place:
    """A node with its pods."""

    node: Object
    name: str
    labels: dict[str, str]
    taints: list[Object]
    room: Amounts
    is_closed: bool
    """Cordoned."""
    seats: dict[str, Seat] = field(default_factory=dict)
    """By identity of the pod."""
    used: Amounts = field(default_factory=dict)
    believed: Amounts = field(default_factory=dict)
    flocks: dict[Flock, int] = field(default_factory=dict)
    """How many pods of which namespace and labels stay there."""

    def take(self, seat: Seat) -> None:
        """A pod is on the node."""
        self.leave(seat.uid)
        self.seats[seat.uid] = seat
        self._count(seat, 1)

    def leave(self, uid: str) -> None:
        """A pod is no longer on the node."""
        seat = self.seats.pop(uid, None)
        if seat is not None:
            self._count(seat, -1)

    def _count(self, seat: Seat, sign: int) -> None:
        if not seat.is_going:
            count = self.flocks.get(seat.flock, 0) + sign
            if count:
                self.flocks[seat.flock] = count
            else:
                del self.flocks[seat.flock]
        for total, requested in ((self.used, seat.wants), (self.believed, seat.believed)):
            for name, value in requested.items():
                total[name] = total.get(name, 0) + sign * value

    @property
    def most_pods(self) -> int:
        return self.room.get(PODS, 0)

    @property
    def ports(self) -> list[Port]:
        """Ports of the host that pods have."""
        return [port for seat in self.seats.values() for port in seat.ports]


def place_of(node: Object) -> Place:
    """A node without pods."""
    metadata, spec = metadata_of(node), part_of(node, "spec")
    return Place(
        node=node,
        name=metadata["name"],
        labels=metadata.get("labels") or {},
        taints=list(spec.get("taints") or []),
        room=amounts(part_of(node, "status", "allocatable")),
        is_closed=bool(spec.get("unschedulable")),
    )


class Picture:
    """All nodes by name, in the order of their names."""

    def __init__(self, nodes: Iterable[Object] = (), pods: Iterable[Object] = ()) -> None:
        self.places: dict[str, Place] = {}
        self._homeless: dict[str, dict[str, Seat]] = {}
        self._at: dict[str, str] = {}
        self.with_pod_affinity: dict[str, Seat] = {}
        """Pods that have something against others, or for them."""
        for node in nodes:
            self.see_node(node)
        for pod in pods:
            self.see_pod(pod)

    def see_node(self, node: Object) -> None:
        """A node is there, or changed."""
        key = place_of(node)
        before = self.places.get(key.name)
        seats = self._homeless.pop(key.name, {}) if before is None else before.seats
        for seat in seats.values():
            key.take(seat)
        is_new = before is None
        self.places[key.name] = key
        if is_new:
            self.places = dict(sorted(self.places.items()))

    def lose_node(self, name: str) -> None:
        """A node is gone; its pods are not."""
        key = self.places.pop(name, None)
        if key is not None and key.seats:
            self._homeless[name] = key.seats

    def see_pod(self, pod: Object) -> None:
        """A pod is there, or changed."""
        uid = metadata_of(pod).get("uid", "")
        node = part_of(pod, "spec").get("nodeName", "")
        ended = part_of(pod, "status").get("phase") in _ENDED
        if not node or ended:
            self.lose_pod(uid)
            return
        before = self._at.get(uid)
        if before is not None and before != node:
            self.lose_pod(uid)
        self._at[uid] = node
        seat = Seat(pod)
        if "podAffinity" in seat.affinity or "podAntiAffinity" in seat.affinity:
            self.with_pod_affinity[uid] = seat
        content = self.places.get(node)
        if content is not None:
            content.take(seat)
        else:
            self._homeless.setdefault(node, {})[uid] = seat

    def lose_pod(self, uid: str) -> None:
        """A pod is gone, or does not run any more."""
        node = self._at.pop(uid, None)
        self.with_pod_affinity.pop(uid, None)
        if node is None:
            return
        content = self.places.get(node)
        if content is not None:
            content.leave(uid)
        else:
            self._homeless.get(node, {}).pop(uid, None)

    def node_of(self, seat: Seat) -> Place | None:
        """The node of a pod, where it is there."""
        return self.places.get(self._at.get(seat.uid, ""))
