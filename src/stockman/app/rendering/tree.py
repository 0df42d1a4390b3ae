"""Implementations of `ports.tree.Tree` for a directory."""

from __future__ import annotations

from pathlib import Path

from stockman.app.rendering.render import (
    RenderContext,
    Rendering,
    prepare_rendering,
    write_rendering,
)
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.rendering.managed_files import FileDecisions


class RenderedTree:
    """The rendered files of one directory."""

    def __init__(self, directory: Path, context: RenderContext) -> None:
        self._directory = directory
        self._context = context

    async def changed_files(self) -> tuple[str, ...]:
        """Return sorted paths of files that rendering would change."""
        return tuple(sorted(change.path for change in self.rendering().changes))

    async def render(self) -> None:
        """Write every rendered file, or none."""
        write_rendering(self._directory, self.rendering(), self._context)

    def rendering(self) -> Rendering:
        """Return what rendering would do. Raises `Refused` for errors and undecided files."""
        done = prepare_rendering(self._directory, FileDecisions(), self._context)
        for problem in done.problems.errors:
            raise Refused(problem)
        if done.undecided:
            raise Refused(decision_needed([action.path for action in done.undecided]))
        return done


class ReadOnlyTree(RenderedTree):
    """A rendered tree for reading, which ignores undecided files."""

    def rendering(self) -> Rendering:
        done = prepare_rendering(self._directory, FileDecisions(), self._context)
        for problem in done.problems.errors:
            raise Refused(problem)
        return done


def decision_needed(paths: list[str]) -> Problem:
    """Return the problem of files that both the user and rendering changed."""
    shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    return Problem(
        code="tree.undecided",
        what=f"files wait for a decision: {shown}",
        where=paths[0],
        why="they were changed by hand, and rendering would write them differently",
        fix="run `stockman render` and decide with `--accept`, `--overwrite` or `--prune`",
    )


class OverwrittenTree(RenderedTree):
    """A rendered tree that overwrites undecided files, so that plans can be made."""

    def __init__(self, directory: Path, context: RenderContext, paths: frozenset[str]) -> None:
        super().__init__(directory, context)
        self._directory = directory
        self._with = context
        self._paths = paths

    def rendering(self) -> Rendering:
        done = prepare_rendering(self._directory, FileDecisions(overwrite=self._paths), self._with)
        for problem in done.problems.errors:
            raise Refused(problem)
        return done
