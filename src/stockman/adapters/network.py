"""`ports.Network` over sockets, each question in a thread of its own.

The resolver of the system cannot be interrupted and may take half a minute. A thread that is late
is left behind: it ends with its socket or with the process, and nobody waits for it.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TypeVar

from stockman.adapters import dns, sntp, tls
from stockman.adapters.http_date import request_date, seconds_ahead
from stockman.ports.environment import Certificate, NoAddress, NoAnswer, ServerAddress, Trust

T = TypeVar("T")

Lookup = Callable[[str], tuple[str, ...]]
"""Takes a name and returns its addresses; may block, and raises `OSError`."""

TIMEOUT = 2.0
"""Seconds for one question: a name, a connection with its handshake, a packet and its answer."""
_LARGEST_PACKET = 4096
_MAX_ADDRESSES = 3


def system_lookup(host: str) -> tuple[str, ...]:
    """The addresses of a name as the system's resolver knows them, in its order."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


class SocketNetwork:
    """`ports.Network` over sockets."""

    def __init__(self, *, patience: float = TIMEOUT, lookup: Lookup = system_lookup) -> None:
        self._patience = patience
        self._lookup = lookup

    async def resolve(self, host: str) -> tuple[str, ...]:
        if _is_address(host):
            return (host,)
        try:
            found = await self._asked(lambda: self._lookup(host))
        except NoAnswer as none:
            raise NoAddress(str(none)) from None
        if not found:
            raise NoAddress("it has no address")
        return found

    async def connect(self, door: ServerAddress) -> None:
        visit = await self._visit(door)
        await self._asked(visit.connect)

    async def certificate(self, door: ServerAddress, trust: Trust) -> Certificate:
        visit = await self._visit(door)
        return await self._asked(lambda: visit.certificate(trust))

    async def http_clock(self, door: ServerAddress, *, tls: bool) -> float:
        visit = await self._visit(door)
        return await self._asked(lambda: visit.http_clock(encrypted=tls))

    async def ntp_clock(self, server: str, port: int = 123) -> float:
        address, *_ = await self.resolve(server)
        return await self._asked(lambda: _ntp_clock(address, port, self._patience))

    async def name_server(self, server: str, port: int = 53) -> None:
        number = int.from_bytes(os.urandom(2))
        answer = await self._asked(
            lambda: _exchange(server, port, dns.build_query(number), self._patience)
        )
        dns.check_answer(answer, number)

    async def _visit(self, door: ServerAddress) -> _Dialer:
        addresses = await self.resolve(door.host)
        return _Dialer(addresses[:_MAX_ADDRESSES], door, self._patience)

    async def _asked(self, work: Callable[[], T]) -> T:
        try:
            async with asyncio.timeout(self._patience):
                return await _run_in_thread(work)
        except TimeoutError:
            raise NoAnswer(f"no answer within {self._patience:g} s") from None
        except (OSError, ValueError) as error:
            raise NoAnswer(_error_clause(error)) from None


class _Dialer:
    """One server, dialled anew for every look at it; its addresses are tried in turn."""

    def __init__(self, addresses: tuple[str, ...], door: ServerAddress, patience: float) -> None:
        self._addresses = addresses
        self._port = door.port
        self._name = door.name or door.host
        self._patience = patience

    def connect(self) -> None:
        self._plain().close()

    def certificate(self, trust: Trust) -> Certificate:
        if trust.fingerprint is not None:
            seen = self._seen()
            return tls.parse_certificate(
                seen, tls.fingerprint_mismatch(tls.parse_certificate(seen), trust)
            )
        try:
            with self._encrypted(tls.verifying_context(trust)) as connection:
                return tls.parse_certificate(_peer_certificate(connection))
        except tls.InvalidCa as unusable:
            return tls.parse_certificate(self._seen(), f"its CA cannot be read: {unusable}")
        except ssl.SSLCertVerificationError as error:
            return tls.parse_certificate(
                self._seen(), _lower_first(error.verify_message.rstrip("."))
            )

    def http_clock(self, *, encrypted: bool) -> float:
        with self._encrypted(tls.insecure_context()) if encrypted else self._plain() as connection:
            before = time.time()
            date = request_date(connection, self._name)
            return seconds_ahead(date, before, time.time())

    def _seen(self) -> bytes:
        with self._encrypted(tls.insecure_context()) as connection:
            return _peer_certificate(connection)

    def _encrypted(self, context: ssl.SSLContext) -> ssl.SSLSocket:
        plain = self._plain()
        try:
            return context.wrap_socket(plain, server_hostname=self._name)
        except (OSError, ValueError):
            plain.close()
            raise

    def _plain(self) -> socket.socket:
        patience = self._patience / len(self._addresses)
        *others, last = self._addresses
        for address in others:
            with suppress(OSError):
                return socket.create_connection((address, self._port), timeout=patience)
        return socket.create_connection((last, self._port), timeout=patience)


def _peer_certificate(connection: ssl.SSLSocket) -> bytes:
    return connection.getpeercert(binary_form=True) or b""


def _ntp_clock(address: str, port: int, patience: float) -> float:
    cookie = int.from_bytes(os.urandom(8))
    sent = time.time_ns()
    answer = _exchange(address, port, sntp.build_query(cookie), patience)
    return sntp.read_offset(answer, cookie, sent, time.time_ns())


def _exchange(address: str, port: int, packet: bytes, patience: float) -> bytes:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as door:
        door.settimeout(patience)
        door.connect((address, port))
        door.send(packet)
        return door.recv(_LARGEST_PACKET)


async def _run_in_thread(work: Callable[[], T]) -> T:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def deliver(finish: Callable[[], None]) -> None:
        # The loop is closed when the answer comes after everybody left.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: None if answer.done() else finish())

    def run() -> None:
        try:
            result = work()
        except (OSError, ValueError, NoAnswer) as error:
            failure = error
            deliver(lambda: answer.set_exception(failure))
        else:
            deliver(lambda: answer.set_result(result))

    Thread(target=run, daemon=True).start()
    return await answer


def _is_address(host: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        with suppress(OSError, ValueError):
            socket.inet_pton(family, host)
            return True
    return False


def _error_clause(error: OSError | ValueError) -> str:
    match error:
        case ConnectionRefusedError():
            return "nothing listens there"
        case ConnectionResetError() | BrokenPipeError() | ssl.SSLEOFError():
            return "the connection was cut"
        case ssl.SSLError():
            return f"it does not speak TLS as we do: {_lower_first(error.reason or 'no reason')}"
        case OSError():
            return _lower_first(error.strerror or type(error).__name__)
    return "the name cannot be written as a host name"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
