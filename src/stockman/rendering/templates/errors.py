"""How a template is stopped: with the problem, but without the place, which the caller finds."""

from __future__ import annotations

from stockman.model.origin import Position
from stockman.model.problem import Problem


class TemplateStopped(Exception):
    """A template did what it may not do."""

    def __init__(self, code: str, what: str, *, why: str, fix: str, where: str = "") -> None:
        super().__init__(what)
        self.where = where
        """Empty: the line that is being rendered."""
        self.code = code
        self.what = what
        self.why = why
        self.fix = fix

    def at(self, where: Position | str) -> Problem:
        """The problem of it, at its place."""
        place = self.where or where
        return Problem(code=self.code, what=self.what, why=self.why, fix=self.fix, where=place)
