"""Base class of the API calls: send a request and parse the reply."""

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
    """A request that changes something."""

    method: Method
    path: Path
    content: object = None
    """None: no body."""
    content_type: str = JSON
    manager: str = MANAGER
    """The field manager. Empty: not sent."""
    dry_run: bool = False
    is_read: bool = False
    """Whether the request changes nothing although its method is not GET."""
    more: Query = ()

    def request(self) -> Request:
        """Return the request to send."""
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
    """Base class of a group of API calls over a transport."""

    def __init__(self, transport: Transport, clock: Clock) -> None:
        self._transport = transport
        self._clock = clock

    async def _read(self, path: Path, read: Callable[[Row], T], query: Query = ()) -> T:
        """Send a GET request and parse the reply with `read`."""
        request = Request(method="GET", segments=path, query=query, seconds=READ_SECONDS)
        return await self._send(request, read)

    async def _change(self, change: Change, read: Callable[[Row], T]) -> T:
        """Send a change and parse the reply with `read`."""
        return await self._send(change.request(), read)

    async def _send(self, request: Request, read: Callable[[Row], T]) -> T:
        reply = await self._transport.call(request)
        if not reply.is_good:
            raise reply_error(request, reply)
        return read_answer(request, reply, read)


def read_answer(request: Request, reply: Reply, read: Callable[[Row], T]) -> T:
    """Parse a reply with `read`; raises `Rejected` for an unexpected format."""
    try:
        return read(json_object(reply.body))
    except UnexpectedAnswer as error:
        why = str(error)
    raise unexpected_answer(request, why)


def json_object(body: bytes) -> Row:
    """Parse a JSON object."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        raise UnexpectedAnswer("the reply is not JSON") from None
    if not isinstance(parsed, dict):
        raise UnexpectedAnswer("the reply is not a JSON object")
    return parsed


def require_metadata(row: Row) -> Row:
    """Return an object unchanged; it must have metadata."""
    if not isinstance(row.get("metadata"), Mapping):
        raise UnexpectedAnswer("metadata is missing")
    return row


def find_secret_texts(content: object) -> tuple[str, ...]:
    """Return the secret texts in a Secret or a patch of one, longest first."""
    encodings = {form for text in _secret_values(content) for form in _encodings(text)}
    return tuple(sorted((text for text in encodings if len(text) >= _SHORTEST_SECRET), key=len))[
        ::-1
    ]


def _secret_values(content: object) -> Iterator[str]:
    """Yield the values of a Secret, a merge patch, or the operations of a JSON patch."""
    if isinstance(content, list):
        for operation in content:
            yield from _strings(operation.get("value") if isinstance(operation, Mapping) else None)
    elif isinstance(content, Mapping):
        yield from _strings(content.get("data"))
        yield from _strings(content.get("stringData"))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (item for item in value.values() if isinstance(item, str))


def _encodings(text: str) -> set[str]:
    """Return a text with its base64 encoding and decoding."""
    forms = {text, base64.b64encode(text.encode()).decode("ascii")}
    try:
        forms.add(base64.b64decode(text, validate=True).decode("utf-8"))
    except ValueError:
        return forms
    return forms


_LONGEST_LINE = 32 << 20


async def split_lines(
    request: Request, chunks: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    """Yield lines without line ends, including an unterminated last line."""
    pending = bytearray()
    async with aclosing(chunks):
        async for chunk in chunks:
            pending += chunk
            if b"\n" in chunk:
                *complete, remainder = bytes(pending).split(b"\n")
                pending = bytearray(remainder)
                for line in complete:
                    yield line
            if len(pending) > _LONGEST_LINE:
                raise unexpected_answer(request, f"a line is longer than {_LONGEST_LINE >> 20} MiB")
    if pending:
        yield bytes(pending)
