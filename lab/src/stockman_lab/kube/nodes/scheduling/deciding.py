"""One decision of the scheduler: a node for a pod, or why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from stockman_lab.kube.api.object_selectors import selects
from stockman_lab.kube.controllers.node_fitting import matches_term, selects_node, tolerates
from stockman_lab.kube.nodes.scheduling.picture import Picture, Place, Port, Seat
from stockman_lab.kube.nodes.scheduling.requests import CPU, MEMORY
from stockman_lab.kube.objects import Object, entries_of, part_of

NO_NODES = "no nodes available to schedule pods"
REPELLING = frozenset({"NoSchedule", "NoExecute"})
_CLOSED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NEAR, _FAR = "podAffinity", "podAntiAffinity"
Reach = Mapping[str, list[dict[str, object]]]
"""Terms of nodes that volumes of a pod can be reached from, by name of the volume."""


def _no_labels(name: str) -> dict[str, str]:
    return {"kubernetes.io/metadata.name": name}


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a pod."""

    node: str = ""
    """Empty: there is none."""
    message: str = ""


@dataclass(slots=True)
class Scheduling:
    """Decides about pods on the nodes of a picture."""

    picture: Picture
    namespace_labels: Callable[[str], dict[str, str]] = field(default=_no_labels)

    def decide(self, pod: Object, volumes: Reach | None = None) -> Decision:
        """A node for a pod: the best of those that fit, by name among equals."""
        seat = Seat(pod)
        places = self.picture.places.values()
        if not places:
            return Decision(message=f"0/0 nodes are available: {NO_NODES}.")
        reasons: Counter[str] = Counter()
        fitting = []
        for place in places:
            result = list(self._reasons(seat, place, volumes or {}))
            reasons.update(result)
            if not result:
                fitting.append(place)
        if fitting:
            return Decision(max(fitting, key=lambda item: self._points(seat, item)).name)
        told = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
        return Decision(message=f"0/{len(places)} nodes are available: {told}.")

    # -- what a node has to have ---------------------------------------------------------------

    def _reasons(self, seat: Seat, key: Place, volumes: Reach) -> Iterator[str]:
        """Why a pod cannot run on a node: of what only the first is told, then of resources."""
        reason = self._reason(seat, key, volumes)
        if reason:
            yield reason
            return
        if len(key.seats) + 1 > key.most_pods:
            yield "Too many pods"
        for name, desired in sorted(seat.wants.items()):
            if desired and desired > key.room.get(name, 0) - key.used.get(name, 0):
                yield f"Insufficient {name}"

    def _reason(self, seat: Seat, key: Place, volumes: Reach) -> str:
        tolerations = entries_of(seat.spec, "tolerations")
        taints = [taint for taint in key.taints if taint.get("effect") in REPELLING]
        if key.is_closed and not _bears(tolerations, _CLOSED):
            return "node(s) were unschedulable"
        if not all(_bears(tolerations, taint) for taint in taints):
            return "node(s) had untolerated taint(s)"
        if not selects_node(seat.spec, key.node):
            return "node(s) didn't match Pod's node affinity/selector"
        if any(_clash(port, other) for port in seat.ports for other in key.ports):
            return "node(s) didn't have free ports for the requested pod ports"
        for terms in volumes.values():
            if not any(matches_term(term, key.labels, key.name) for term in terms):
                return "node(s) didn't match PersistentVolume's node affinity"
        if not self._is_spread(seat, key):
            return "node(s) didn't match pod topology spread constraints"
        near = entries_of(seat.affinity, _NEAR, _REQUIRED)
        if not all(self._count(term, seat, key) or self._is_first(term, seat) for term in near):
            return "node(s) didn't match pod affinity rules"
        far = entries_of(seat.affinity, _FAR, _REQUIRED)
        if any(self._count(term, seat, key) for term in far):
            return "node(s) didn't match pod anti-affinity rules"
        return self._anti_affinity_reason(seat, key)

    def _anti_affinity_reason(self, seat: Seat, place: Place) -> str:
        """Whether a pod that is there does not want the new one near it."""
        for other in self.picture.with_pod_affinity.values():
            node = self.picture.node_of(other)
            for term in entries_of(other.affinity, _FAR, _REQUIRED) if node is not None else ():
                key = term.get("topologyKey", "")
                is_near = node is not None and place.labels.get(key) == node.labels.get(key)
                if is_near and self._means(term, other, seat):
                    return "node(s) didn't satisfy existing pods anti-affinity rules"
        return ""

    def _is_spread(self, seat: Seat, place: Place) -> bool:
        for rule in entries_of(seat.spec, "topologySpreadConstraints"):
            if rule.get("whenUnsatisfiable") != "DoNotSchedule":
                continue
            key = rule["topologyKey"]
            counts: Counter[str] = Counter()
            for one in self.picture.places.values():
                if key in one.labels and selects_node(seat.spec, one.node):
                    counts[one.labels[key]] += _alike(rule, seat, one)
            least = min(counts.values(), default=0)
            if len(counts) < int(rule.get("minDomains") or 1):
                least = 0
            if key not in place.labels or counts[place.labels[key]] + 1 - least > rule["maxSkew"]:
                return False
        return True

    # -- pods near others ----------------------------------------------------------------------

    def _count(self, term: Object, seat: Seat, place: Place) -> int:
        """How many pods that a term means are in the same part of the cluster as a node."""
        key = term.get("topologyKey", "")
        return sum(
            self._means(term, seat, other)
            for one in self.picture.places.values()
            if key in place.labels and one.labels.get(key) == place.labels[key]
            for other in one.seats.values()
        )

    def _is_first(self, term: Object, seat: Seat) -> bool:
        """Whether a pod is the first of those that want to be together."""
        others = (seat for key in self.picture.places.values() for seat in key.seats.values())
        return self._means(term, seat, seat) and not any(
            self._means(term, seat, other) for other in others
        )

    def _means(self, term: Object, owner: Seat, seat: Seat) -> bool:
        names, chosen = term.get("namespaces") or [], term.get("namespaceSelector")
        is_near = seat.namespace in (names or [owner.namespace])
        if not is_near and chosen is not None:
            is_near = selects(chosen, self.namespace_labels(seat.namespace))
        return is_near and selects(term.get("labelSelector"), seat.labels)

    # -- how good a node is --------------------------------------------------------------------

    def _points(self, seat: Seat, key: Place) -> tuple[float, ...]:
        tolerations = entries_of(seat.spec, "tolerations")
        avoided = sum(
            taint.get("effect") == "PreferNoSchedule" and not _bears(tolerations, taint)
            for taint in key.taints
        )
        preferred = sum(
            int(entry.get("weight", 0))
            for entry in entries_of(seat.affinity, "nodeAffinity", _PREFERRED)
            if matches_term(part_of(entry, "preference"), key.labels, key.name)
        )
        for kind, sign in ((_NEAR, 1), (_FAR, -1)):
            for entry in entries_of(seat.affinity, kind, _PREFERRED):
                count = self._count(part_of(entry, "podAffinityTerm"), seat, key)
                preferred += sign * int(entry.get("weight", 0)) * count
        crowd = key.flocks.get(seat.flock, 0)
        for rule in entries_of(seat.spec, "topologySpreadConstraints"):
            value = key.labels.get(rule["topologyKey"])
            for one in self.picture.places.values():
                if one.labels.get(rule["topologyKey"]) == value:
                    crowd += _alike(rule, seat, one)
        free = [
            1 - (key.believed.get(name, 0) + seat.believed.get(name, 0)) / key.room[name]
            for name in (CPU, MEMORY)
            if key.room.get(name)
        ]
        return -avoided, preferred, -crowd, sum(free)


def _bears(tolerations: list[Object], taint: Object) -> bool:
    return any(tolerates(toleration, taint) for toleration in tolerations)


def _alike(rule: Object, seat: Seat, key: Place) -> int:
    """How many pods on a node a rule about spreading means."""
    return sum(
        other.namespace == seat.namespace
        and not other.is_going
        and selects(rule.get("labelSelector"), other.labels)
        for other in key.seats.values()
    )


def _clash(port: Port, other: Port) -> bool:
    anywhere = "0.0.0.0"
    same_address = port[1] == other[1] or anywhere in (port[1], other[1])
    return port[0] == other[0] and port[2] == other[2] and same_address
