"""What carries requests to a storage, and answers back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from stockman.model.record import record


@record
class S3Request:
    """One request, signed."""

    method: str
    url: str
    headers: Mapping[str, str]
    shown: str
    """For people: what it is about, without anything that lets somebody in."""
    body: bytes = b""


@record
class S3Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""


class NotSent(Exception):
    """A question that nobody heard; its text says why, as a clause."""


class ReplyLost(Exception):
    """A question whose answer did not come: it may have been carried out. The text says why."""


class Transport(Protocol):
    """Carries questions. Raises `NotAsked` or `Lost` where nobody answers."""

    async def ask(self, question: S3Request) -> S3Reply:
        """The whole answer."""
        ...
