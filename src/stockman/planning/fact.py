"""Facts with when and from where they are known, and what nobody could find out."""

from __future__ import annotations

from datetime import datetime
from typing import Generic, TypeGuard, TypeVar

from stockman.model.problem import Problem
from stockman.model.record import record

T = TypeVar("T")


@record
class Fact(Generic[T]):
    """Something that was seen."""

    value: T
    seen: datetime
    source: str
    """Who said it: `Proxmox cluster pve: resources`."""


@record
class Unknown:
    """Something that could not be found out, which is not the same as something that is not."""

    problem: Problem
    """Why."""
    seen: datetime
    """When it was asked for."""
    source: str


def is_known(seen: Fact[T] | Unknown) -> TypeGuard[Fact[T]]:
    """Whether it was seen."""
    return isinstance(seen, Fact)


def known(seen: Fact[T] | Unknown, otherwise: T) -> T:
    """The value, or another where nobody knows it."""
    return seen.value if isinstance(seen, Fact) else otherwise
