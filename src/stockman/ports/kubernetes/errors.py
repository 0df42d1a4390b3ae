"""Refusals of Kubernetes that say more than their problem does."""

from __future__ import annotations

from stockman.model.errors import Conflict, Denied, Rejected, StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record


@record
class OwnedField:
    """A field, and who set it."""

    field: str
    """`.spec.replicas`. Empty: the server does not tell."""
    manager: str


@record
class Cause:
    """One of several things that are wrong with an object."""

    field: str
    """`spec.replicas`. Empty: the whole."""
    message: str
    reason: str = ""
    """`FieldValueInvalid`."""


@record
class Right:
    """What somebody wants to do."""

    verb: str
    resource: str
    """The plural, with a subresource where it is about one: `pods/eviction`."""
    group: str = ""
    namespace: str = ""
    """Empty: all of them, or none."""
    name: str = ""
    """Empty: all of them."""


class AlreadyThere(Conflict):
    """There is an object of this name."""


class FieldConflict(Conflict):
    """Others own fields that were to be set."""

    def __init__(self, problem: Problem, fields: tuple[OwnedField, ...]) -> None:
        super().__init__(problem)
        self.fields = fields

    @property
    def managers(self) -> tuple[str, ...]:
        """Who they are, each once."""
        return tuple(dict.fromkeys(one.manager for one in self.fields))


class NotAllowed(Denied):
    """The rights of whoever asks do not reach."""

    def __init__(self, problem: Problem, right: Right) -> None:
        super().__init__(problem)
        self.right = right
        """The one that is missing."""


class Invalid(Rejected):
    """Fields of an object are wrong."""

    def __init__(self, problem: Problem, causes: tuple[Cause, ...]) -> None:
        super().__init__(problem)
        self.causes = causes


class Expired(StockmanError):
    """The server no longer keeps what was asked for: it has to be listed anew."""
