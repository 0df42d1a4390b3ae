"""What rules find, collected."""

from __future__ import annotations

from enum import Enum

from stockman.model.problem import Problem, Problems, Severity
from stockman.talos.validation.part import Part


class Mode(Enum):
    """Where a machine runs, as far as its configuration has to know."""

    METAL = "metal"
    CLOUD = "cloud"


class Report:
    """Collects problems for one minor and mode."""

    def __init__(self, minor: str, mode: Mode, *, strict: bool = False) -> None:
        self.problems = Problems()
        self.minor = int(minor.partition(".")[2])
        """13 for 1.13."""
        self.mode = mode
        self._strict = strict

    def error(self, code: str, part: Part, what: str, *, why: str, fix: str) -> None:
        self._add(code, part, what, why, fix, Severity.ERROR)

    def warn(  # noqa: PLR0913 - the fields of a problem, and one more
        self, code: str, part: Part, what: str, *, why: str, fix: str, counts: bool = False
    ) -> None:
        """Something that Talos says and takes; `counts`: not if it is strict.

        Only warnings about the oldest document count; others are never more than that.
        """
        severity = Severity.ERROR if counts and self._strict else Severity.WARNING
        self._add(code, part, what, why, fix, severity)

    def missing(self, part: Part, why: str, fix: str = "") -> None:
        """A part that has to be there is not."""
        self.error(
            "machine.required",
            part,
            f"{part.name} is missing",
            why=why,
            fix=fix or f"write {part.path.rpartition('.')[2]}",
        )

    def _add(  # noqa: PLR0913 - the fields of a problem
        self, code: str, part: Part, what: str, why: str, fix: str, severity: Severity
    ) -> None:
        origin = part.origin
        where = origin.at if not origin.is_derived else part.name
        self.problems.add(
            Problem(code=code, what=what, why=why, fix=fix, where=where, severity=severity)
        )
