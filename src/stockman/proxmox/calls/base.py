"""What all families of calls share: asking, and reading what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Generic, TypeVar

from stockman.ports.system import Timekeeper
from stockman.proxmox.errors import unexpected_answer
from stockman.proxmox.rows import UnexpectedAnswer, row_list
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.transport import Method, Reply, Request, Transport, Value

T = TypeVar("T")
Path = tuple[str, ...]
Parameters = Mapping[str, Value]


class Calls:
    """A family of calls over a wire."""

    def __init__(self, wire: Transport, clock: Timekeeper) -> None:
        self._wire = wire
        self._clock = clock

    async def _get(
        self, path: Path, read: Callable[[object], T], parameters: Parameters | None = None
    ) -> T:
        """What a read makes of the data of an answer."""
        request = Request(method="GET", segments=path, parameters=parameters or {})
        return _read(request, await self._wire.call(request), read)

    async def _rows(
        self,
        path: Path,
        read: Callable[[Mapping[str, object]], T],
        parameters: Parameters | None = None,
    ) -> tuple[T, ...]:
        """What a read makes of each row of an answer."""
        return await self._get(
            path, lambda data: tuple(read(row) for row in row_list(data)), parameters
        )

    async def _do(self, method: Method, path: Path, parameters: Parameters | None = None) -> object:
        """Change something at once; returns the data of the answer."""
        request = Request(method=method, segments=path, parameters=parameters or {})
        return (await self._wire.call(request)).data

    async def _made(
        self, method: Method, path: Path, parameters: Parameters, read: Callable[[object], T]
    ) -> T:
        """Change something at once; returns what a read makes of the answer."""
        request = Request(method=method, segments=path, parameters=parameters)
        return _read(request, await self._wire.call(request), read)

    async def _start(
        self, method: Method, path: Path, parameters: Parameters | None = None
    ) -> TaskRef:
        """Change something in the background."""
        return await self._started(
            Request(method=method, segments=path, parameters=parameters or {})
        )

    async def _maybe_start(
        self, method: Method, path: Path, parameters: Parameters | None = None
    ) -> TaskRef | None:
        """Change something, perhaps in the background."""
        request = Request(method=method, segments=path, parameters=parameters or {})
        return _read(request, await self._wire.call(request), _maybe_task)

    async def _started(self, request: Request) -> TaskRef:
        return _read(request, await self._wire.call(request), _task)


def _read(request: Request, reply: Reply, read: Callable[[object], T]) -> T:
    try:
        return read(reply.data)
    except UnexpectedAnswer as error:
        raise unexpected_answer(request, str(error)) from None


def _task(data: object) -> TaskRef:
    found = _maybe_task(data)
    if found is None:
        raise UnexpectedAnswer("a task was to be started, and none is named")
    return found


def _maybe_task(data: object) -> TaskRef | None:
    if data is None or data == "OK":
        return None
    try:
        return TaskRef.parse(data if isinstance(data, str) else "")
    except ValueError:
        raise UnexpectedAnswer("a task was to be started, and what came names none") from None


Result = TypeVar("Result")


class SharedCall(Generic[Result]):
    """A question that many steps ask: whoever asks while it is on its way gets the same answer.

    An answer is never kept, so it is as old as one call takes at the most.
    """

    def __init__(self) -> None:
        self._asked: asyncio.Task[Result] | None = None
        """None: nobody waits for an answer."""

    async def of(self, question: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """The answer to a question that is asked now, or was asked a moment ago."""
        if self._asked is None or self._asked.done():
            self._asked = asyncio.ensure_future(question())
        return await asyncio.shield(self._asked)
