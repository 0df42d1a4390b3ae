"""Exceptions that carry exactly one problem to the nearest edge, where it is printed once."""

from __future__ import annotations

from stockman.model.problem import Problem


class StockmanError(Exception):
    """Something the user can act on; its problem says how."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.code}: {problem.what}")
        self.problem = problem


class NotFound(StockmanError):
    """The thing named does not exist."""


class Conflict(StockmanError):
    """The thing exists already, or changed since it was read."""


class Locked(Conflict):
    """Somebody else works on the thing right now."""


class Uncertain(StockmanError):
    """It may have been done or not: look before doing it again."""


class Denied(StockmanError):
    """The other side knows us and says no."""


class Rejected(StockmanError):
    """The other side understood the request and refuses it."""


class Unsupported(Rejected):
    """The other side does not know such a request, at least not in its version."""


class Unreachable(StockmanError):
    """Nobody answered; the only kind that is worth a second try."""


class Busy(Unreachable):
    """The other side wants to be left alone for a while."""

    def __init__(self, problem: Problem, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.retry_after = retry_after
        """Seconds, as the other side asks for. None: it does not say."""


class Refused(StockmanError):
    """We stopped ourselves."""


class WrongUsage(StockmanError):
    """The command line asks for something that does not exist or does not fit together."""
