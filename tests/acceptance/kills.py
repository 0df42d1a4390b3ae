"""Kill points of a run: what whoever comes next finds, and how they go on.

The world, the files and the journal change only where something is written; between two writes
the product looks, and being killed at one look or at the next comes to the same but for the time.
So points form groups, and one of each stands for all: the last before the next write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stockman.engine.context import StopRequest
from stockman.engine.journal import EntryType, JournalEntry, parse_journal
from stockman.engine.state import RunState, StepProgress, fold_entries
from tests.acceptance.doors import Kept
from tests.acceptance.files import Files
from tests.acceptance.process import Call, Process
from tests.acceptance.scene import Life, Scene, Snapshot

_FILES = frozenset({"secrets", "tree", "repo"})
"""Systems whose writes change the directory."""


@dataclass(frozen=True)
class KillPoint:
    """One moment of a run at which it may be killed."""

    number: int
    name: str
    """The call that comes next, or that was the last."""
    snapshot: Snapshot
    planning: bool
    """Whether the run was not begun yet."""

    @property
    def is_over(self) -> bool:
        """Whether there is no run that could be resumed."""
        return self.planning or is_over(self.snapshot.kept)


def kill_points(
    scene: Scene, wanted: Callable[[int, str, Call], bool], live: Callable[[Process], Life]
) -> tuple[list[KillPoint], Life]:
    """Live once, and keep what would be found after a kill at every point that is wanted.

    Points are told by their number, `before` or `after`, and the call.
    """
    found: list[KillPoint] = []
    process = Process()
    files: list[Files] = []
    before = len(scene.kept.plans)

    def look(number: int, side: str, call: Call) -> None:
        if call.system in _FILES and call.is_write:
            files.clear()
        if not wanted(number, side, call):
            return
        snapshot = scene.snapshot(files[0] if files else None)
        files[:] = [snapshot.files]
        planning = len(scene.kept.plans) == before
        found.append(KillPoint(number, f"{side} {call}", snapshot, planning))

    process.watchers.append(look)
    return found, live(process)


def is_over(kept: Kept) -> bool:
    """Whether there is no run, or the last is over."""
    if not kept.plans:
        return True
    run = max(kept.plans)
    entries, _ = parse_journal(kept.journals.get(run, b""), run)
    result = fold_entries(run, entries).result
    return result is not None and result.is_final


def groups(process: Process) -> list[int]:
    """Numbers of the points that stand for all: right before every write, and the very last."""
    found = [
        number
        for number, (side, call) in enumerate(process.points, 1)
        if side == "before" and call.is_write
    ]
    return [*found, process.passed]


class UntilMended:
    """Stops a run once everything is finished that was under way at a kill.

    Told every entry of the journal. What the plan does not have is finished already; where nothing
    was under way, two steps are enough.
    """

    def __init__(self, scene: Scene, under_way: set[str]) -> None:
        self._scene = scene
        self.left = set(under_way)
        self.stop = StopRequest()
        self.finished: set[str] = set()
        """Steps that had something to do."""

    def __call__(self, entry: JournalEntry) -> None:
        if entry.event is EntryType.ACCEPTED:
            self.left &= {step.id for step in self._scene.last_plan.steps}
        if entry.event is EntryType.FINISHED:
            self.left.discard(entry.step)
            self.finished |= set() if entry.data.get("already") else {entry.step}
            if not self.left and len(self.finished) > 1:
                self.stop.request()


def under_way(state: RunState) -> set[str]:
    """Steps that were begun, and not finished."""
    return {
        name
        for name, one in state.steps.items()
        if one.attempts > 0 and one.progress is not StepProgress.DONE
    }


def mend(point: KillPoint, how: str, root: Path) -> tuple[Scene, Life, UntilMended]:
    """Go on after a kill by a new plan (`apply`) or by `resume`, until what was begun is done."""
    scene = point.snapshot.scene(root)
    until = UntilMended(scene, set() if point.planning else under_way(scene.state()))
    if how == "apply" or point.is_over:
        return scene, scene.apply(watchers=(until,), stop=until.stop), until
    return scene, scene.resume(watchers=(until,), stop=until.stop), until
