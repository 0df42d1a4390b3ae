"""What all families of calls share: asking, and reading what comes back."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import TypeVar

from stockman.kubernetes.errors import reply_error, unexpected_answer
from stockman.kubernetes.rows import Row, UnexpectedAnswer
from stockman.kubernetes.transport import JSON, Method, Reply, Request, Transport
from stockman.model.record import record
from stockman.ports.system import Clock

T = TypeVar("T")
Path = tuple[str, ...]
Query = tuple[tuple[str, str], ...]

MANAGER = "stockman"
CHANGE_SECONDS = 60.0
READ_SECONDS = 20.0
_SHORTEST_SECRET = 4


@record
class Change:
    """A call that changes something."""

    method: Method
    path: Path
    content: object = None
    """None: nothing is sent along."""
    content_type: str = JSON
    manager: str = MANAGER
    """Who is told to set fields. Empty: it is not told."""
    dry_run: bool = False
    is_read: bool = False
    """Whether it is sent as a change, and yet changes nothing."""
    more: Query = ()

    def request(self) -> Request:
        """The call for the wire."""
        query = [*self.more]
        if self.manager:
            query.append(("fieldManager", self.manager))
        if self.dry_run:
            query.append(("dryRun", "All"))
        return Request(
            method=self.method,
            segments=self.path,
            query=tuple(query),
            body=b"" if self.content is None else json.dumps(self.content).encode(),
            content_type=self.content_type,
            is_read=self.is_read or self.dry_run,
            seconds=CHANGE_SECONDS,
            secrets=find_secret_texts(self.content) if "secrets" in self.path else (),
        )


class Calls:
    """A family of calls over a wire."""

    def __init__(self, wire: Transport, clock: Clock) -> None:
        self._wire = wire
        self._clock = clock

    async def _read(self, path: Path, read: Callable[[Row], T], query: Query = ()) -> T:
        """What a read makes of an answer."""
        request = Request(method="GET", segments=path, query=query, seconds=READ_SECONDS)
        return await self._asked(request, read)

    async def _change(self, change: Change, read: Callable[[Row], T]) -> T:
        """Change something; returns what a read makes of the answer."""
        return await self._asked(change.request(), read)

    async def _asked(self, request: Request, read: Callable[[Row], T]) -> T:
        reply = await self._wire.call(request)
        if not reply.is_good:
            raise reply_error(request, reply)
        return read_answer(request, reply, read)


def read_answer(request: Request, reply: Reply, read: Callable[[Row], T]) -> T:
    """What a read makes of an answer; an odd one is told as such."""
    try:
        return read(json_object(reply.body))
    except UnexpectedAnswer as error:
        why = str(error)
    raise unexpected_answer(request, why)


def json_object(body: bytes) -> Row:
    """An object in JSON."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise UnexpectedAnswer("its answer is not JSON") from None
    if not isinstance(found, dict):
        raise UnexpectedAnswer("its answer is not an object")
    return found


def require_metadata(row: Row) -> Row:
    """An object without a closer look; it has to have metadata."""
    if not isinstance(row.get("metadata"), Mapping):
        raise UnexpectedAnswer("metadata is not told")
    return row


def find_secret_texts(content: object) -> tuple[str, ...]:
    """Texts that nobody may see, of a Secret or of a patch to one; the longest first."""
    found = {form for one in _secret_values(content) for form in _encodings(one)}
    return tuple(sorted((one for one in found if len(one) >= _SHORTEST_SECRET), key=len))[::-1]


def _secret_values(content: object) -> Iterator[str]:
    """Values of a Secret, of a merge patch, or of the operations of a JSON patch."""
    if isinstance(content, list):
        for operation in content:
            yield from _strings(operation.get("value") if isinstance(operation, Mapping) else None)
    elif isinstance(content, Mapping):
        yield from _strings(content.get("data"))
        yield from _strings(content.get("stringData"))


def _strings(found: object) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, Mapping):
        yield from (one for one in found.values() if isinstance(one, str))


def _encodings(text: str) -> set[str]:
    """A text, and what it stands for or is written as."""
    forms = {text, base64.b64encode(text.encode()).decode("ascii")}
    try:
        forms.add(base64.b64decode(text, validate=True).decode("utf-8"))
    except ValueError:
        return forms
    return forms


_LONGEST_LINE = 32 << 20


async def split_lines(
    request: Request, pieces: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    """Lines without their ends; one that does not end comes last."""
    left = bytearray()
    async with aclosing(pieces):
        async for piece in pieces:
            left += piece
            if b"\n" in piece:
                *whole, rest = bytes(left).split(b"\n")
                left = bytearray(rest)
                for line in whole:
                    yield line
            if len(left) > _LONGEST_LINE:
                raise unexpected_answer(request, f"a line is over {_LONGEST_LINE >> 20} MiB")
    if left:
        yield bytes(left)
