"""The exception that stops a template: a problem whose position the caller fills in."""

from __future__ import annotations

from stockman.model.origin import Position
from stockman.model.problem import Problem


class TemplateStopped(Exception):
    """A template was stopped."""

    def __init__(self, code: str, what: str, *, why: str, fix: str, where: str = "") -> None:
        super().__init__(what)
        self.where = where
        """Empty: the current line of the template."""
        self.code = code
        self.what = what
        self.why = why
        self.fix = fix

    def at(self, where: Position | str) -> Problem:
        """Return the problem with its position."""
        position = self.where or where
        return Problem(code=self.code, what=self.what, why=self.why, fix=self.fix, where=position)
