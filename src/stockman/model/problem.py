"""Problems: what is wrong, where, why, and how to fix it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from stockman.model.origin import Origin, Position
from stockman.model.record import record


class Severity(Enum):
    """Whether a problem stops the command."""

    ERROR = "error"
    WARNING = "warning"


@record
class Problem:
    """A single problem with its code, position, reason and fix."""

    code: str
    what: str
    why: str
    fix: str
    where: Position | str = ""
    """A position in a file, or the name of an object. Empty: no position."""
    severity: Severity = Severity.ERROR

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    def __str__(self) -> str:
        lines = [f"{self.severity.value}[{self.code}]: {self.what}"]
        if self.where:
            lines.append(f"  where: {self.where}")
        lines.append(f"  why:   {self.why}")
        lines.append(f"  fix:   {self.fix}")
        return "\n".join(lines)


class Problems:
    """A collection of unique problems, ordered by file and line."""

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        self._found: dict[Problem, None] = dict.fromkeys(problems)

    def add(self, problem: Problem) -> None:
        """Add a problem unless it is already present."""
        self._found[problem] = None

    def error(
        self, code: str, summary: str, *, why: str, fix: str, at: ProblemLocation = None
    ) -> None:
        """Add an error."""
        self.add(Problem(code=code, what=summary, why=why, fix=fix, where=_normalize_location(at)))

    def warn(
        self, code: str, summary: str, *, why: str, fix: str, at: ProblemLocation = None
    ) -> None:
        """Add a warning."""
        self.add(
            Problem(
                code=code,
                what=summary,
                why=why,
                fix=fix,
                where=_normalize_location(at),
                severity=Severity.WARNING,
            )
        )

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add several problems."""
        for problem in problems:
            self.add(problem)

    def extend_new(self, problems: Iterable[Problem]) -> None:
        """Add the problems that are not reported yet for the same place."""
        known = {(problem.code, problem.where, problem.what) for problem in self}
        self.extend(
            problem
            for problem in problems
            if (problem.code, problem.where, problem.what) not in known
        )

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self if problem.is_error)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self if not problem.is_error)

    def __iter__(self) -> Iterator[Problem]:
        return iter(sorted(self._found, key=_reading_order))

    def __len__(self) -> int:
        return len(self._found)

    def __bool__(self) -> bool:
        return bool(self._found)


ProblemLocation = Position | Origin | str | None


def _normalize_location(at: ProblemLocation) -> Position | str:
    if at is None:
        return ""
    location = at.at if isinstance(at, Origin) else at
    # What follows from other keys is written nowhere.
    return "" if isinstance(location, Position) and not location.file else location


def _reading_order(problem: Problem) -> tuple[str, int, int, str, str]:
    location = problem.where
    if isinstance(location, Position):
        return (location.file, location.line, location.column, problem.code, problem.what)
    return (location, 0, 0, problem.code, problem.what)
