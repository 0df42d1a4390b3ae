"""What goes in and out of the server: a request, and what becomes of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

JSON = {"Content-Type": "application/json;charset=UTF-8"}
"""The headers of an answer of the API."""


@dataclass(slots=True, eq=False)
class Upload:
    """A file that came with a request, and the form fields before it."""

    fields: dict[str, str]
    """In the order in which they came."""
    filename: str
    path: Path
    """Where the bytes lie until the request is answered; whoever wants to keep them moves it."""
    size: int


@dataclass(slots=True, eq=False)
class Request:
    """A request that was read whole."""

    method: str
    target: str
    """Path and query as they came, still encoded."""
    headers: dict[str, str]
    """Names in lower case; values of a repeated header are joined with a comma."""
    body: bytes
    peer: str
    """The address of the client."""
    secure: bool
    version: str = "1.1"
    upload: Upload | None = None
    certificate: bytes | None = None
    """What the client showed, in DER, where the server asks for it. None: nothing."""


@dataclass(slots=True, eq=False)
class Response:
    """An answer. The server adds what every answer has, and compresses it for those who ask."""

    status: int = 200
    reason: str = ""
    """Its first line goes into the status line; empty: the usual words for the status."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    close: bool = False
    """Whether the connection ends after it; from status 400 on it always does."""


class Hang:
    """No answer at all, over a connection that stays open until the client gives up."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Cut:
    """A connection that breaks: at once, or after so many bytes of an answer."""

    after: int = 0
    response: Response = field(default_factory=Response)


@dataclass(slots=True, eq=False)
class Stream:
    """An answer whose body comes piece by piece, for as long as the client stays."""

    pieces: AsyncIterator[bytes]
    response: Response = field(default_factory=Response)
    """Its head."""
    is_cut: bool = False
    """Whether the connection breaks after the last piece."""


Outcome = Response | Hang | Cut | Stream
Handler = Callable[[Request], Outcome | Awaitable[Outcome]]
"""Answers at once, which costs least, or later."""
Admission = Callable[[Request], Outcome | Awaitable[Outcome] | None]
"""Sees a request whose body has not been read; None lets it in."""
