"""Programs in pods that do something: what they wrote, and how they ended, among the notes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from stockman_lab.kube.nodes.pod_running import Outcome, Outcomes
from stockman_lab.kube.objects import Object, entries_of, metadata_of
from stockman_lab.kube.programs import program


@dataclass(slots=True)
class Act:
    """One run of a program that acts."""

    run: str
    """The pod by its id, and which of its starts it is."""
    lines: list[tuple[float, str]] = field(default_factory=list)
    exit_code: int | None = None
    """None: it is still at it."""


def acting_container(pod: Object) -> Object | None:
    """The container of a pod whose program acts; None: there is none."""
    for entry in entries_of(pod, "spec", "containers"):
        if program(str(entry.get("image", ""))).acts:
            return entry
    return None


def run_of(pod: Object) -> str:
    """Which run of its program a pod is at."""
    states = entries_of(pod, "status", "containerStatuses")
    restarts = max((int(state.get("restartCount", 0)) for state in states), default=0)
    return f"{metadata_of(pod).get('uid', '')}/{restarts}"


class Acts:
    """All runs, kept among the notes of controllers."""

    def __init__(self, notes: dict[str, str]) -> None:
        self._notes = notes

    def of(self, pod: Object) -> Act | None:
        """The newest run in a pod; None: nothing is known."""
        text = self._notes.get(_place(pod))
        if not text:
            return None
        content = json.loads(text)
        lines = [(float(moment), str(line)) for moment, line in content["lines"]]
        act = Act(str(content["run"]), lines, content["exit_code"])
        is_same = act.run.partition("/")[0] == metadata_of(pod).get("uid")
        return act if is_same else None

    def keep(self, pod: Object, act: Act) -> None:
        """Remember."""
        told = {"run": act.run, "lines": act.lines, "exit_code": act.exit_code}
        self._notes[_place(pod)] = json.dumps(told, separators=(",", ":"))

    def written(self, pod: Object) -> list[tuple[float, str]] | None:
        """What the program in a pod wrote; None: it is none that acts."""
        act = self.of(pod)
        return None if act is None else act.lines

    def forget(self, key: str) -> None:
        """A pod is gone: `namespace/name`."""
        self._notes.pop(f"act {key}", None)


def with_acts(outcomes: Outcomes, acts: Acts) -> Outcomes:
    """How programs end: those that act when they are done, others as they always do."""

    def outcome(pod: Object) -> Outcome | None:
        if acting_container(pod) is None:
            return outcomes(pod)
        act = acts.of(pod)
        if act is None or act.exit_code is None or act.run != run_of(pod):
            return None
        return Outcome(0.0, act.exit_code, is_decided=True)

    return outcome


def _place(pod: Object) -> str:
    metadata = metadata_of(pod)
    return f"act {metadata.get('namespace', '')}/{metadata['name']}"
