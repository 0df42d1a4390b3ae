"""The wire under a connection: plain or encrypted, watched for silence, ended in good order."""

from __future__ import annotations

import asyncio
import ssl

from stockman_lab.http.rules import Cancellable, Timers
from stockman_lab.http.tls import HANDSHAKE, Broken, Tls

_LARGEST_REST = 16 * 1024 * 1024
"""How much of what a refused client still sends is read and thrown away."""


class Line(asyncio.Protocol):
    """Bytes from and to one client; who builds on it says what they mean."""

    __slots__ = (
        "_backlog",
        "_context",
        "_has_ended",
        "_is_known",
        "_rest",
        "_seen",
        "_silence",
        "_timer",
        "_timers",
        "_tls",
        "_transport",
        "peer",
    )

    def __init__(self, context: ssl.SSLContext | None, timers: Timers, silence: float) -> None:
        self._context = context
        self._timers = timers
        self._silence = silence
        self._transport: asyncio.Transport
        self._tls: Tls | None = None
        self._is_known = context is None
        self._has_ended = False
        self._rest = -1
        self._backlog = 0
        self._seen = 0.0
        self._timer: Cancellable | None = None
        self.peer = ""

    # --- for who builds on it ---------------------------------------------------------------------

    def arrived(self) -> None:
        """A client is there; nothing is read before `open`."""

    def heard(self, data: bytes) -> None:
        """The client said something."""

    def gone(self) -> None:
        """The client has left."""

    def ended(self) -> None:
        """The client said that it will say nothing more."""

    def is_at_work(self) -> bool:
        """Whether an answer is being made, so that silence is nobody's fault."""
        return False

    @property
    def is_secure(self) -> bool:
        return self._tls is not None

    @property
    def peer_certificate(self) -> bytes | None:
        """What the client showed, in DER. None: nothing."""
        return None if self._tls is None else self._tls.peer_certificate

    @property
    def has_ended(self) -> bool:
        """Whether the client said that it will say nothing more."""
        return self._has_ended

    def open(self) -> None:
        """Begin to listen, and to measure silence."""
        self.touch()
        self._watch(self._silence)
        self._transport.resume_reading()

    def touch(self) -> None:
        """Count silence from now on."""
        self._seen = self._timers.time()

    def pause(self) -> None:
        self._transport.pause_reading()

    def resume(self) -> None:
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def say(self, data: bytes) -> None:
        """Send something to the client, if it is still there."""
        transport = self._transport
        if transport.is_closing():
            return
        if self._tls is None:
            transport.write(data)
            return
        try:
            transport.write(self._tls.sealed(data))
        except Broken:
            transport.abort()

    def end(self, *, is_read: bool = True) -> None:
        """Close the line. What was sent reaches the client even while it is still talking."""
        transport = self._transport
        if transport.is_closing() or self._rest >= 0:
            return
        if self._tls is not None:
            transport.write(self._tls.farewell())
        if is_read or self._has_ended:
            transport.close()
        else:
            # Closing with unread bytes would make the system throw away the answer.
            self._rest = 0
            transport.write_eof()
            transport.resume_reading()

    def cut(self, data: bytes) -> None:
        """Break the line without a farewell, after some last bytes."""
        if not data:
            self._transport.abort()
            return
        self.say(data)
        self._transport.close()

    def abort(self) -> None:
        """Break the line at once."""
        self._transport.abort()

    # --- for asyncio ------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a line is a stream")
        self._transport = transport
        transport.pause_reading()
        name = transport.get_extra_info("peername")
        self.peer = name[0] if name else ""
        self.arrived()

    def data_received(self, data: bytes) -> None:
        self._seen = self._timers.time()
        if self._rest >= 0:
            self._rest += len(data)
            if self._rest > _LARGEST_REST:
                self._transport.abort()
            return
        if not self._is_known:
            self._is_known = True
            if data[0] == HANDSHAKE and self._context is not None:
                self._tls = Tls(self._context)
        if self._tls is None:
            self.heard(data)
        else:
            self._open_up(self._tls, data)

    def eof_received(self) -> bool:
        self._has_ended = True
        self.ended()
        return self.is_at_work() and self._rest < 0

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._has_ended = True
        self.gone()

    def _open_up(self, tls: Tls, data: bytes) -> None:
        try:
            said = tls.opened(data)
        except Broken:
            self._transport.write(tls.owed())
            self.end(is_read=False)
            return
        if owed := tls.owed():
            self._transport.write(owed)
        if said:
            self.heard(said)
        if tls.ended:
            self._has_ended = True
            self.ended()
            if not self.is_at_work():
                self.end()

    def _watch(self, seconds: float) -> None:
        self._timer = self._timers.call_later(seconds, self._look)

    def _look(self) -> None:
        """End a line on which nothing has moved for too long."""
        transport = self._transport
        quiet = 0.0 if self.is_at_work() else self._timers.time() - self._seen
        backlog = transport.get_write_buffer_size()
        if quiet < self._silence:
            self._watch(self._silence - quiet)
        elif backlog not in (0, self._backlog):
            self._backlog = backlog
            self._watch(self._silence)
        elif backlog or transport.is_closing() or self._rest >= 0:
            transport.abort()
        else:
            self.end()
            self._watch(self._silence)
