"""Network probes over sockets, each in a thread of its own.

The system resolver cannot be interrupted and may block for half a minute. On timeout its thread
is abandoned: it ends with its socket or with the process.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from struct import Struct
from threading import Thread
from typing import TypeVar

from stockman.adapters import sntp, tls
from stockman.ports.environment import Certificate, NoAddress, NoAnswer, ServerAddress, Trust

T = TypeVar("T")

Lookup = Callable[[str], tuple[str, ...]]
"""Resolves a name to addresses; may block, and raises `OSError`."""

TIMEOUT = 2.0
"""Seconds for one probe: a name, a connection with its handshake, a packet and its reply."""
_LARGEST_PACKET = 4096
_MAX_ADDRESSES = 3


def system_lookup(host: str) -> tuple[str, ...]:
    """Return the addresses of a name from the system resolver."""
    addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in addresses))


class SocketNetwork:
    """`Network` over sockets."""

    def __init__(self, *, patience: float = TIMEOUT, lookup: Lookup = system_lookup) -> None:
        self._patience = patience
        self._lookup = lookup

    async def resolve(self, host: str) -> tuple[str, ...]:
        if _is_address(host):
            return (host,)
        try:
            addresses = await self._run(lambda: self._lookup(host))
        except NoAnswer as error:
            raise NoAddress(str(error)) from None
        if not addresses:
            raise NoAddress("it has no address")
        return addresses

    async def connect(self, server: ServerAddress) -> None:
        dialer = await self._dialer(server)
        await self._run(dialer.connect)

    async def certificate(self, server: ServerAddress, trust: Trust) -> Certificate:
        dialer = await self._dialer(server)
        return await self._run(lambda: dialer.certificate(trust))

    async def http_clock(self, server: ServerAddress, *, tls: bool) -> float:
        dialer = await self._dialer(server)
        return await self._run(lambda: dialer.http_clock(encrypted=tls))

    async def ntp_clock(self, server: str, port: int = 123) -> float:
        address, *_ = await self.resolve(server)
        return await self._run(lambda: _ntp_clock(address, port, self._patience))

    async def name_server(self, server: str, port: int = 53) -> None:
        number = int.from_bytes(os.urandom(2))
        answer = await self._run(lambda: _exchange(server, port, dns_query(number), self._patience))
        check_dns_answer(answer, number)

    async def _dialer(self, server: ServerAddress) -> _Dialer:
        addresses = await self.resolve(server.host)
        return _Dialer(addresses[:_MAX_ADDRESSES], server, self._patience)

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            async with asyncio.timeout(self._patience):
                return await _run_in_thread(work)
        except TimeoutError:
            raise NoAnswer(f"no response within {self._patience:g} s") from None
        except (OSError, ValueError) as error:
            raise NoAnswer(_error_clause(error)) from None


class _Dialer:
    """Connects to a server for each probe; its addresses are tried in order."""

    def __init__(self, addresses: tuple[str, ...], server: ServerAddress, patience: float) -> None:
        self._addresses = addresses
        self._port = server.port
        self._name = server.name or server.host
        self._patience = patience

    def connect(self) -> None:
        self._open_tcp().close()

    def certificate(self, trust: Trust) -> Certificate:
        if trust.fingerprint is not None:
            der = self._fetch_certificate()
            return tls.parse_certificate(
                der, tls.fingerprint_mismatch(tls.parse_certificate(der), trust)
            )
        try:
            with self._open_tls(tls.verifying_context(trust)) as connection:
                return tls.parse_certificate(_peer_certificate(connection))
        except tls.InvalidCa as invalid:
            return tls.parse_certificate(self._fetch_certificate(), f"its CA is invalid: {invalid}")
        except ssl.SSLCertVerificationError as error:
            return tls.parse_certificate(
                self._fetch_certificate(), tls.lower_first(error.verify_message.rstrip("."))
            )

    def http_clock(self, *, encrypted: bool) -> float:
        with (
            self._open_tls(tls.insecure_context()) if encrypted else self._open_tcp() as connection
        ):
            before = time.time()
            date = request_date(connection, self._name)
            return seconds_ahead(date, before, time.time())

    def _fetch_certificate(self) -> bytes:
        with self._open_tls(tls.insecure_context()) as connection:
            return _peer_certificate(connection)

    def _open_tls(self, context: ssl.SSLContext) -> ssl.SSLSocket:
        plain = self._open_tcp()
        try:
            return context.wrap_socket(plain, server_hostname=self._name)
        except (OSError, ValueError):
            plain.close()
            raise

    def _open_tcp(self) -> socket.socket:
        patience = self._patience / len(self._addresses)
        *first_addresses, last = self._addresses
        for address in first_addresses:
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
    with socket.socket(family, socket.SOCK_DGRAM) as connection:
        connection.settimeout(patience)
        connection.connect((address, port))
        connection.send(packet)
        return connection.recv(_LARGEST_PACKET)


async def _run_in_thread(work: Callable[[], T]) -> T:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def deliver(finish: Callable[[], None]) -> None:
        # The loop may be closed if the result arrives late.
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
            return "connection refused"
        case ConnectionResetError() | BrokenPipeError() | ssl.SSLEOFError():
            return "the connection was lost"
        case ssl.SSLError():
            return f"TLS handshake failed: {tls.lower_first(error.reason or 'no reason')}"
        case OSError():
            return tls.lower_first(error.strerror or type(error).__name__)
    return "the name is not a valid host name"


_HEADER = Struct("!HHHHHH")
_RECURSION = 0x0100  # recursion desired
_IS_ANSWER = 0x8000
_ROOT_NAME_SERVERS = b"\x00" + Struct("!HH").pack(2, 1)
_ERROR_CODES = {
    1: "it does not understand a standard query",
    2: "it cannot resolve names",
    4: "it does not support such queries",
    5: "it refuses the query",
}


def dns_query(number: int) -> bytes:
    """Return a query for the name servers of the root, which every resolver knows."""
    return _HEADER.pack(number, _RECURSION, 1, 0, 0, 0) + _ROOT_NAME_SERVERS


def check_dns_answer(answer: bytes, number: int) -> None:
    """Check that an answer comes from a working name server; raises `NoAnswer`."""
    if len(answer) < _HEADER.size:
        raise NoAnswer("its answer is too short for DNS")
    number_in_answer, flags, *_ = _HEADER.unpack_from(answer)
    if number_in_answer != number or not flags & _IS_ANSWER:
        raise NoAnswer("its answer does not match the query")
    error = _ERROR_CODES.get(flags & 0xF)
    if error is not None:
        raise NoAnswer(error)


_MOST_BYTES = 16 * 1024
_HALF_A_SECOND = 0.5
"""The average fraction of a second that the header omits."""


def request_date(connection: socket.socket, host: str) -> datetime:
    """Send a request without credentials and return the date of the reply."""
    request = (
        f"HEAD / HTTP/1.1\r\nHost: {host}\r\nUser-Agent: stockman\r\nConnection: close\r\n\r\n"
    )
    connection.sendall(request.encode("ascii"))
    answer = b""
    while b"\r\n\r\n" not in answer and len(answer) < _MOST_BYTES:
        chunk = connection.recv(4096)
        if not chunk:
            break
        answer += chunk
    return _date(answer)


def seconds_ahead(date: datetime, before: float, after: float) -> float:
    """Return how far a server is ahead, given the local Unix time before and after the request."""
    return date.timestamp() + _HALF_A_SECOND - (before + after) / 2


def _date(answer: bytes) -> datetime:
    for line in answer.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n"):
        name, _, value = line.partition(":")
        if name.strip().lower() == "date":
            try:
                date = parsedate_to_datetime(value.strip())
            except ValueError:
                break
            return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
    raise NoAnswer("its reply has no date")
