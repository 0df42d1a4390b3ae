"""A server for one address: it counts connections, waits for handlers, and stops when asked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from stockman_lab.http.rules import ServerRules, Timers

if TYPE_CHECKING:
    from stockman_lab.http.connection import Connection
    from stockman_lab.http.messages import Handler, Outcome
    from stockman_lab.http.streaming import Pump

_BACKLOG = 1024

Context = ssl.SSLContext | Callable[[], ssl.SSLContext] | None
"""How a server speaks TLS: a context, a function that makes it when it is needed, or not at all."""


class HttpServer:
    """Hands requests to a handler and sends back what it says."""

    def __init__(
        self,
        handler: Handler,
        now: Callable[[], float],
        house: ServerRules | None = None,
        timers: Timers | None = None,
    ) -> None:
        self.handler = handler
        self.house = house or ServerRules()
        self._context: Context = None
        self.timers: Timers
        self._given_timers = timers
        self._now = now
        self._second = -1
        self._date = ""
        self._listener: asyncio.Server | None = None
        self._served: set[Connection] = set()
        self._work: dict[asyncio.Future[Outcome], Connection] = {}
        self._pumps: dict[asyncio.Future[None], tuple[Connection, Pump]] = {}
        self._is_open = False
        self._farewell: asyncio.Event | None = None

    async def start(self, address: str, port: int, context: Context = None) -> int:
        """Listen, encrypted if there is a context, and tell on which port; `OSError` if taken."""
        loop = asyncio.get_running_loop()
        self._context = context
        self.timers = self._given_timers or loop
        self._is_open = True
        self._listener = await loop.create_server(
            self._new_connection, address, port, backlog=_BACKLOG
        )
        bound: int = self._listener.sockets[0].getsockname()[1]
        return bound

    def opened(self, context: Context = None) -> Callable[[], Connection]:
        """Serve clients that somebody else lets in; returns what makes their connections."""
        self._context = context
        self.timers = self._given_timers or asyncio.get_running_loop()
        self._is_open = True
        return self._new_connection

    def cut(self) -> None:
        """Break all connections at once, and take no more."""
        self._is_open = False
        self._give_up()
        for connection in list(self._served):
            connection.abort()

    async def stop(self) -> None:
        """Break all connections, give up what is being answered, and free the port."""
        if self._listener is None:
            return
        listener, self._listener = self._listener, None
        self._is_open = False
        await _stop_accepting(listener)
        listener.close()
        self._give_up()
        for connection in list(self._served):
            connection.abort()
        if self._work:
            await asyncio.wait(self._work)
        if self._pumps:
            await asyncio.wait(self._pumps)
        if self._served:
            self._farewell = asyncio.Event()
            await self._farewell.wait()
            self._farewell = None
        await listener.wait_closed()

    def _give_up(self) -> None:
        for task in self._work:
            task.cancel()
        for pump in self._pumps:
            pump.cancel()

    @property
    def context(self) -> ssl.SSLContext | None:
        """How it speaks TLS; made for the first connection where it is given as a function."""
        if self._context is not None and not isinstance(self._context, ssl.SSLContext):
            self._context = self._context()
        return self._context

    @property
    def connections(self) -> int:
        """How many clients are being served."""
        return len(self._served)

    def date(self) -> str:
        """The time of the lab, as headers spell it."""
        second = int(self._now())
        if second != self._second:
            from stockman_lab.http.writing import http_date

            self._second = second
            self._date = http_date(second)
        return self._date

    # --- for connections --------------------------------------------------------------------------

    def arrived(self, connection: Connection) -> None:
        """Serve a client, unless it came while the server stopped."""
        if not self._is_open:
            connection.abort()
            return
        self._served.add(connection)
        connection.open()

    def gone(self, connection: Connection) -> None:
        """Forget a client."""
        self._served.discard(connection)
        if not self._served and self._farewell is not None:
            self._farewell.set()

    def wait_for(self, connection: Connection, answer: Awaitable[Outcome]) -> None:
        """Let a connection know what becomes of a request."""
        task = asyncio.ensure_future(answer)
        self._work[task] = connection
        task.add_done_callback(self._on_answer)

    def streams(self, connection: Connection, pump: Pump) -> None:
        """Let a connection send a body piece by piece."""
        task = pump.start()
        self._pumps[task] = connection, pump
        task.add_done_callback(self._on_pump_end)

    def _on_pump_end(self, task: asyncio.Future[None]) -> None:
        connection, pump = self._pumps.pop(task)
        if task.cancelled():
            connection.abort()
        elif (error := task.exception()) is not None:
            connection.abort()
            context = {"message": "a body could not be sent", "exception": error}
            task.get_loop().call_exception_handler(context)
        else:
            connection.streamed(pump.stream)

    def _on_answer(self, task: asyncio.Future[Outcome]) -> None:
        connection = self._work.pop(task)
        if task.cancelled():
            connection.abort()
        elif (error := task.exception()) is not None:
            connection.abort()
            context = {"message": "a request could not be answered", "exception": error}
            task.get_loop().call_exception_handler(context)
        else:
            connection.settle(task.result())

    def _new_connection(self) -> Connection:
        # What reads and writes is imported for the first client: the doors open without it.
        from stockman_lab.http.connection import Connection

        return Connection(self)


async def _stop_accepting(listener: asyncio.Server) -> None:
    """Take in nobody new, and wait for those who are halfway in: asyncio would forget them."""
    loop = asyncio.get_running_loop()
    for socket in listener.sockets:
        loop.remove_reader(socket.fileno())
    passed = loop.create_future()
    loop.call_soon(passed.set_result, None)
    await passed
