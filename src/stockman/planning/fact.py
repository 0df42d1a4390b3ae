"""Observed values with their time and source, and values that could not be observed."""

from __future__ import annotations

from datetime import datetime
from typing import Generic, TypeGuard, TypeVar

from stockman.model.problem import Problem
from stockman.model.record import record

T = TypeVar("T")


@record
class Fact(Generic[T]):
    """An observed value."""

    value: T
    seen: datetime
    source: str
    """Who reported it: `Proxmox cluster pve: resources`."""


@record
class Unknown:
    """A value that could not be observed, which is not the same as an absent value."""

    problem: Problem
    """The reason."""
    seen: datetime
    """Time of the attempt."""
    source: str


def is_known(fact: Fact[T] | Unknown) -> TypeGuard[Fact[T]]:
    """Whether the value was observed."""
    return isinstance(fact, Fact)


def known(fact: Fact[T] | Unknown, default: T) -> T:
    """Return the value, or a default if it is unknown."""
    return fact.value if isinstance(fact, Fact) else default
