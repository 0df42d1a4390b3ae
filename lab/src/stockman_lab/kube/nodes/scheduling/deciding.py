"""One decision of the scheduler: a node for a pod, or why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from stockman_lab.kube.nodes.scheduling import ranking
from stockman_lab.kube.nodes.scheduling.filters import Question, Refusal, asked, refusal
from stockman_lab.kube.nodes.scheduling.matching import only_names
from stockman_lab.kube.nodes.scheduling.picture import Picture, Place, Seat
from stockman_lab.kube.nodes.scheduling.pod_affinity import NamespaceLabels
from stockman_lab.kube.nodes.scheduling.preempting import Preemption, preempt
from stockman_lab.kube.nodes.scheduling.spreading import Spread
from stockman_lab.kube.objects import Object

NO_NODES = "no nodes available to schedule pods"
_FEWEST = 100
"""So many nodes are always looked at, where there are so many."""


def _no_spaces(name: str) -> dict[str, str]:
    return {"kubernetes.io/metadata.name": name}


def _alone(seat: Seat) -> Object | None:
    del seat
    return None


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a pod."""

    best: tuple[str, ...] = ()
    """The nodes with the most points; the first one is taken. Empty: there is none."""
    message: str = ""
    victims: tuple[Seat, ...] = ()
    """Pods that have to go first."""
    nominated: str = ""
    """The node that they are on."""


@dataclass(slots=True)
class Scheduling:
    """Decides about pods on the nodes of a picture."""

    picture: Picture
    spaces: NamespaceLabels = field(default=_no_spaces)
    spread: Spread = field(default=_alone)
    start: int = 0
    """Where the next round through many nodes begins."""

    def decide(
        self, pod: Object, volumes: dict[str, list[dict[str, object]]] | None = None
    ) -> Decision:
        """A node for a pod."""
        seat = Seat(pod)
        places = list(self.picture.places.values())
        if not places:
            return Decision(message=f"0/0 nodes are available: {NO_NODES}.")
        question = asked(seat, self.picture, self.spaces, only_names(seat.spec), volumes)
        fitting, refused = self._sorted_out(question, places)
        if fitting:
            return Decision(best=self._best(question, fitting))
        return self._refused(question, refused)

    def _sorted_out(
        self, question: Question, places: Sequence[Place]
    ) -> tuple[list[Place], dict[str, Refusal]]:
        fitting: list[Place] = []
        refused: dict[str, Refusal] = {}
        enough = _enough(len(places))
        looked_at = 0
        first = self.start % len(places)
        for number in range(len(places)):
            place = places[(first + number) % len(places)]
            looked_at += 1
            found = refusal(question, place)
            if found is not None:
                refused[place.name] = found
                continue
            fitting.append(place)
            if len(fitting) >= enough:
                break
        if enough < len(places):
            self.start = (first + looked_at) % len(places)
        return fitting, refused

    def _best(self, question: Question, fitting: Sequence[Place]) -> tuple[str, ...]:
        if len(fitting) == 1:
            return (fitting[0].name,)
        points = ranking.points(question, fitting, self.spread)
        most = max(points.values())
        return tuple(name for name, value in points.items() if value == most)

    def _refused(self, question: Question, refused: dict[str, Refusal]) -> Decision:
        counts = Counter(reason for one in refused.values() for reason in one.reasons)
        text = f"0/{len(self.picture.places)} nodes are available: {_told(counts)}."
        after = preempt(question, refused)
        return Decision(
            message=f"{text} {_aftermath(after, len(self.picture.places))}".rstrip(),
            victims=after.victims,
            nominated=after.node,
        )


def _enough(count: int) -> int:
    """How many fitting nodes are enough, as the scheduler does not look at all of very many."""
    if count < _FEWEST:
        return count
    return max(count * max(50 - count // 125, 5) // 100, _FEWEST)


def _told(counts: Counter[str]) -> str:
    return ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))


def _aftermath(after: Preemption, count: int) -> str:
    if after.node:
        return ""
    text = after.text or f"0/{count} nodes are available: {_told(after.counts)}."
    return f"no new claims to deallocate, preemption: {text}"
