"""The rendered tree as if every file that somebody changed were to be written again."""

from __future__ import annotations

from pathlib import Path

from stockman.app.rendering import Doors, Rendering, rendering
from stockman.app.tree_door import RenderedTree
from stockman.model.errors import Refused
from stockman.rendering.ownership import Wishes


class OverwrittenTree(RenderedTree):
    """Nothing waits for a decision: plans can be made, and tell what rendering would write."""

    def __init__(self, directory: Path, doors: Doors, paths: frozenset[str]) -> None:
        super().__init__(directory, doors)
        self._place = directory
        self._with = doors
        self._paths = paths

    def rendering(self) -> Rendering:
        done = rendering(self._place, Wishes(overwrite=self._paths), self._with)
        for problem in done.problems.errors:
            raise Refused(problem)
        return done
