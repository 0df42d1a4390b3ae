"""Requests and replies of the API, and the protocol of a transport for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal, Protocol
from urllib.parse import quote

from stockman.model.errors import Rejected
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.proxmox.storages import Upload

Method = Literal["GET", "POST", "PUT", "DELETE"]
Value = str | int | float | bool | Secret | Sequence[str] | None
"""A parameter; a sequence is sent as repeated parameters, None is omitted."""


@record
class Request:
    """An API request."""

    method: Method
    segments: tuple[str, ...]
    """The segments of the path, not quoted."""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    upload: Upload | None = None
    """A file to upload. None: no file."""

    @property
    def is_read(self) -> bool:
        return self.method == "GET"

    @property
    def path(self) -> str:
        """The unquoted path, for messages."""
        return "/" + "/".join(self.segments)

    @property
    def shown(self) -> str:
        """The request for messages, without its parameters, which may be confidential."""
        return f"{self.method} {self.path}"

    @property
    def quoted(self) -> str:
        """The quoted path; raises `Rejected` for invalid segments."""
        for segment in self.segments:
            if segment in ("", ".", ".."):
                raise Rejected(_segment_problem(self, segment))
        return "/" + "/".join(quote(segment, safe=":") for segment in self.segments)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Parameters as texts, in their order."""
        return [
            (name, _text(item))
            for name, value in self.parameters.items()
            for item in _values(value)
        ]

    @property
    def secrets(self) -> tuple[str, ...]:
        """Secret texts to mask in messages."""
        values = self.parameters.values()
        return tuple(value.reveal() for value in values if isinstance(value, Secret))


@record
class Reply:
    """A reply."""

    data: object
    total: int | None = None
    """Total number of rows. None: unknown."""
    changes: str = ""
    """Pending changes, as a diff. Empty: none."""


class Transport(Protocol):
    """Sends requests. An error reply raises the error that `errors.reply_error` returns."""

    async def call(self, request: Request) -> Reply:
        """Send a request and return the reply."""
        ...


def _values(value: Value) -> Sequence[object]:
    if value is None:
        return ()
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return value.reveal() if isinstance(value, Secret) else str(value)


def _segment_problem(request: Request, segment: str) -> Problem:
    return Problem(
        code="proxmox.parameters",
        what="a name in a Proxmox VE request is invalid",
        where=request.shown,
        why=f"{segment!r} is not a valid name",
        fix="use the name that Proxmox VE shows",
    )
