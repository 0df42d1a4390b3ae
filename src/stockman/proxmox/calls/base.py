"""Base class of the API calls: send a request and parse the reply."""

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
    """Base class of a group of API calls over a transport."""

    def __init__(self, transport: Transport, clock: Timekeeper) -> None:
        self._transport = transport
        self._clock = clock

    async def _get(
        self, path: Path, read: Callable[[object], T], parameters: Parameters | None = None
    ) -> T:
        """Send a GET request and parse its data with `read`."""
        request = Request(method="GET", segments=path, parameters=parameters or {})
        return _read(request, await self._transport.call(request), read)

    async def _rows(
        self,
        path: Path,
        read: Callable[[Mapping[str, object]], T],
        parameters: Parameters | None = None,
    ) -> tuple[T, ...]:
        """Send a GET request and parse each row of its data with `read`."""
        return await self._get(
            path, lambda data: tuple(read(row) for row in row_list(data)), parameters
        )

    async def _do(self, method: Method, path: Path, parameters: Parameters | None = None) -> object:
        """Send a request that takes effect immediately; return the data of the reply."""
        request = Request(method=method, segments=path, parameters=parameters or {})
        return (await self._transport.call(request)).data

    async def _send(
        self, method: Method, path: Path, parameters: Parameters, read: Callable[[object], T]
    ) -> T:
        """Send a request that takes effect immediately; parse the reply with `read`."""
        request = Request(method=method, segments=path, parameters=parameters)
        return _read(request, await self._transport.call(request), read)


def _read(request: Request, reply: Reply, read: Callable[[object], T]) -> T:
    try:
        return read(reply.data)
    except UnexpectedAnswer as error:
        raise unexpected_answer(request, str(error)) from None


def read_task(request: Request, reply: Reply) -> TaskRef:
    """Return the task that a request started."""
    task = read_optional_task(request, reply)
    if task is None:
        raise unexpected_answer(request, "the reply contains no task id")
    return task


def read_optional_task(request: Request, reply: Reply) -> TaskRef | None:
    """Return the task that a request started. None: it took effect without a task."""
    return _read(request, reply, _optional_task)


def _optional_task(data: object) -> TaskRef | None:
    if data is None or data == "OK":
        return None
    try:
        return TaskRef.parse(data if isinstance(data, str) else "")
    except ValueError:
        raise UnexpectedAnswer("the reply contains no valid task id") from None


Result = TypeVar("Result")


class SharedCall(Generic[Result]):
    """A call that many steps make: concurrent callers share one request and its reply.

    Replies are not cached, so a reply is never older than the duration of one call.
    """

    def __init__(self) -> None:
        self._running: asyncio.Task[Result] | None = None
        """None: no call is running."""

    async def run(self, call: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Return the reply of the running call, or of a new one."""
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(call())
        return await asyncio.shield(self._running)
