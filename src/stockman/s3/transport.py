"""Requests and replies of S3, and the protocol of a transport for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from stockman.model.record import record


@record
class S3Request:
    """A signed request."""

    method: str
    url: str
    headers: Mapping[str, str]
    shown: str
    """The request for messages, without credentials."""
    body: bytes = b""


@record
class S3Reply:
    """A reply."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""


class NotSent(Exception):
    """The request was not sent; the text is the reason as a clause."""


class ReplyLost(Exception):
    """No reply arrived, so the request may have been executed; the text is the reason."""


class Transport(Protocol):
    """Sends requests; raises `NotSent` or `ReplyLost`."""

    async def send(self, request: S3Request) -> S3Reply:
        """Send a request and return the complete reply."""
        ...
