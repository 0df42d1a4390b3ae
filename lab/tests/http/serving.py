"""The server under test, in a thread of its own, for as long as a `with` lasts."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TypeVar

from stockman_lab.authority.making import (
    names_of_host,
    new_authority,
    new_certificate,
    server_context,
)
from stockman_lab.authority.state import Authority, Certificate
from stockman_lab.http.messages import JSON, Handler, Request, Response
from stockman_lab.http.rules import ServerRules
from stockman_lab.http.server import HttpServer

from stockman.adapters.system import SystemClock

T = TypeVar("T")
ADDRESS = "127.0.0.1"
PATIENCE = 20.0
NOW = 1_767_225_600.0
"""The first second of 2026."""
DATE = "Thu, 01 Jan 2026 00:00:00 GMT"


@dataclass
class Alarm:
    """Something that happens at a time, unless it is cancelled."""

    at: float
    callback: Callable[[], None]
    is_cancelled: bool = False

    def cancel(self) -> None:
        self.is_cancelled = True


@dataclass
class Clockwork:
    """Timers whose time passes when a test says so."""

    now: float = 0.0
    alarms: list[Alarm] = field(default_factory=list)

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[[], None], /) -> Alarm:
        alarm = Alarm(self.now + delay, callback)
        self.alarms.append(alarm)
        return alarm

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [alarm for alarm in self.alarms if alarm.at <= end]:
            first = min(due, key=lambda alarm: alarm.at)
            self.alarms.remove(first)
            self.now = max(self.now, first.at)
            if not first.is_cancelled:
                first.callback()
        self.now = end


@dataclass
class Running:
    """A server at work."""

    server: HttpServer
    port: int
    loop: asyncio.AbstractEventLoop
    timers: Clockwork
    troubles: list[str]
    """What would have been a trace on the screen."""

    def call(self, function: Callable[[], T]) -> T:
        """What a function returns that runs where the server runs."""

        async def wrapped() -> T:
            return function()

        return _result(self.loop, wrapped())

    def pass_time(self, seconds: float) -> None:
        self.call(lambda: self.timers.advance(seconds))

    def wait_until(self, holds: Callable[[HttpServer], bool]) -> None:
        """Let the server run until something holds."""
        deadline = self.loop.time() + PATIENCE
        while not self.call(lambda: holds(self.server)):
            assert self.loop.time() < deadline, "it does not come true"

    def connect(self) -> socket.socket:
        return socket.create_connection((ADDRESS, self.port), PATIENCE)

    def talk(self, data: bytes) -> bytes:
        """All that is answered to some bytes until the server hangs up."""
        with self.connect() as line:
            line.sendall(data)
            return rest(line)


def answer(request: Request) -> Response:
    """Tells what was asked."""
    text = f"{request.method} {request.target} {len(request.body)}"
    return Response(headers=JSON, body=text.encode())


@contextmanager
def running(
    handler: Handler = answer,
    house: ServerRules | None = None,
    context: ssl.SSLContext | None = None,
) -> Iterator[Running]:
    """A server on a port of its own; a trace of it fails the test."""
    loop = asyncio.new_event_loop()
    troubles: list[str] = []
    loop.set_exception_handler(lambda _, what: troubles.append(str(what)))
    thread = Thread(target=loop.run_forever)
    thread.start()
    timers = Clockwork()
    server = HttpServer(handler, lambda: NOW, house, timers)
    try:
        port = _result(loop, server.start(ADDRESS, 0, context))
        yield Running(server, port, loop, timers, troubles)
        _result(loop, server.stop())
        assert troubles == []
    finally:
        _result(loop, server.stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def rest(line: socket.socket) -> bytes:
    """What still comes until the other side hangs up."""
    heard = b""
    while data := line.recv(65536):
        heard += data
    return heard


def one_answer(line: socket.socket) -> bytes:
    """One answer with a body of a stated length."""
    heard = b""
    while b"\r\n\r\n" not in heard:
        heard += _more(line)
    head, _, body = heard.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
    while len(body) < length:
        body += _more(line)
    return head + b"\r\n\r\n" + body


@cache
def authority() -> Authority:
    return new_authority(SystemClock().now(), dice(1))


@cache
def certificate() -> Certificate:
    return new_certificate(
        authority(), names_of_host("pve1", "127.66.0.1"), SystemClock().now(), dice(2)
    )


@cache
def encrypted() -> ssl.SSLContext:
    with TemporaryDirectory() as directory:
        return server_context(certificate(), Path(directory))


def trusting() -> ssl.SSLContext:
    """The context of a client that knows the authority."""
    return ssl.create_default_context(cadata=authority().certificate.pem)


def dice(start: int) -> Callable[[int], bytes]:
    """The same bytes each time."""

    def roll(count: int) -> bytes:
        return bytes((start * 37 + at * 11) % 256 for at in range(count))

    return roll


def _more(line: socket.socket) -> bytes:
    data = line.recv(65536)
    assert data, "the server hung up in the middle of an answer"
    return data


def _result(loop: asyncio.AbstractEventLoop, work: Coroutine[None, None, T]) -> T:
    return asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE)
