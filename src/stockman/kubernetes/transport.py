"""What a call consists of, whatever carries it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import field
from typing import Literal, Protocol
from urllib.parse import quote, urlencode

from stockman.kubernetes import problems
from stockman.model.errors import Rejected
from stockman.model.record import record

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
JSON = "application/json"


@record
class Request:
    """One call of the API."""

    method: Method
    segments: tuple[str, ...]
    """The path, part by part, as it is meant and not as it is quoted."""
    query: tuple[tuple[str, str], ...] = ()
    body: bytes = field(default=b"", repr=False)
    content_type: str = JSON
    accepts: str = JSON
    is_read: bool = True
    """Whether it leaves everything as it is, and may be made again."""
    seconds: float = 20.0
    """For the whole call; of a stream for each piece."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts that nobody may see."""

    @property
    def shown(self) -> str:
        """The call without its parameters and its body, which may be confidential."""
        return f"{self.method} /{'/'.join(self.segments)}"

    @property
    def target(self) -> str:
        """Path and parameters for the wire. `Rejected` where a part would lead elsewhere."""
        for segment in self.segments:
            if segment in ("", ".", "..") or "/" in segment:
                raise Rejected(problems.invalid_name(self.shown, segment))
        path = "/" + "/".join(quote(segment, safe=":") for segment in self.segments)
        return f"{path}?{urlencode(self.query)}" if self.query else path


@record
class Reply:
    """What came back, good or bad."""

    status: int
    body: bytes = field(default=b"", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Names in lower case."""

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300


class Transport(Protocol):
    """Carries calls. Raises where no answer comes; what an answer says is for its reader."""

    async def call(self, request: Request) -> Reply:
        """The whole answer."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        """An answer piece by piece, no faster than it is taken.

        An answer that is a no raises what `refusals.refusal` makes of it.
        """
        ...
