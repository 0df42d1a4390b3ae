"""Exceptions that carry exactly one problem, which is printed once at the edge."""

from __future__ import annotations

from stockman.model.problem import Problem


class StockmanError(Exception):
    """An error that the user can act on; its problem says how."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.code}: {problem.what}")
        self.problem = problem


class NotFound(StockmanError):
    """The named object does not exist."""


class Conflict(StockmanError):
    """The object already exists, or has changed since it was read."""


class Locked(Conflict):
    """Another process is working on the object."""


class Uncertain(StockmanError):
    """The operation may or may not have been executed: check before repeating it."""


class Denied(StockmanError):
    """The remote system rejects the credentials or lacks a permission for them."""


class Rejected(StockmanError):
    """The remote system rejected the request as invalid."""


class Unsupported(Rejected):
    """The remote system does not support the request, at least not in its version."""


class Unreachable(StockmanError):
    """The remote system does not answer. Only these errors are retried."""


class Busy(Unreachable):
    """The remote system limits the rate of requests."""

    def __init__(self, problem: Problem, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.retry_after = retry_after
        """Seconds to wait, as requested by the remote system. None: not specified."""


class Refused(StockmanError):
    """stockman itself refused the operation."""


class WrongUsage(StockmanError):
    """The command line is invalid."""
