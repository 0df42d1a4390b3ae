"""`ports.tree.Tree` of a directory: what `stockman render` does."""

from __future__ import annotations

from pathlib import Path

from stockman.app.rendering import Doors, Rendering, rendering, write
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.rendering.ownership import Wishes


class RenderedTree:
    """The rendered files of one directory."""

    def __init__(self, directory: Path, doors: Doors) -> None:
        self._directory = directory
        self._doors = doors

    async def differing(self) -> tuple[str, ...]:
        """Paths of files that are not as they would be rendered now, sorted."""
        return tuple(sorted(one.path for one in self.rendering().changes))

    async def render(self) -> None:
        """Write every file as it is rendered; all of them, or none."""
        write(self._directory, self.rendering(), self._doors)

    def rendering(self) -> Rendering:
        """What rendering would do; `Refused` for mistakes and files that wait for a decision."""
        done = rendering(self._directory, Wishes(), self._doors)
        for problem in done.problems.errors:
            raise Refused(problem)
        if done.undecided:
            raise Refused(undecided([one.path for one in done.undecided]))
        return done


class LookedAtTree(RenderedTree):
    """The rendered files for somebody who only looks: what waits for a decision may wait."""

    def rendering(self) -> Rendering:
        done = rendering(self._directory, Wishes(), self._doors)
        for problem in done.problems.errors:
            raise Refused(problem)
        return done


def undecided(paths: list[str]) -> Problem:
    """The problem of files that the user changed, and rendering would change too."""
    shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    return Problem(
        code="tree.undecided",
        what=f"files wait for a decision: {shown}",
        where=paths[0],
        why="they were changed by hand, and rendering would write them differently",
        fix="run `stockman render` and decide with `--accept`, `--overwrite` or `--prune`",
    )
