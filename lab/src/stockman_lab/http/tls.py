"""The encrypted side of one connection, on buffers: it never touches a socket."""

from __future__ import annotations

import ssl
from contextlib import suppress

_CHUNK = 256 * 1024
HANDSHAKE = 0x16
"""The first byte of a client that wants to speak TLS."""


class Broken(Exception):
    """What came is not TLS, or not one that was agreed on."""


class Tls:
    """Turns what the socket brings into what the client said, and back."""

    __slots__ = ("_incoming", "_outgoing", "_secured", "_session", "ended")

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._session = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._secured = False
        self.ended = False
        """Whether the client said that nothing follows."""

    @property
    def secured(self) -> bool:
        """Whether both sides agreed."""
        return self._secured

    @property
    def peer_certificate(self) -> bytes | None:
        """What the client showed, in DER. None: nothing."""
        return self._session.getpeercert(binary_form=True)

    def opened(self, raw: bytes) -> bytes:
        """What the client said; `Broken` where it cannot be understood."""
        self._incoming.write(raw)
        try:
            if not self._secured:
                self._session.do_handshake()
                self._secured = True
            return self._read()
        except ssl.SSLWantReadError:
            return b""
        except ssl.SSLError as error:
            raise Broken(error.reason) from error

    def sealed(self, data: bytes) -> bytes:
        """What goes to the socket for something that is said to the client."""
        try:
            self._session.write(data)
        except ssl.SSLError as error:
            raise Broken(error.reason) from error
        return self._outgoing.read()

    def owed(self) -> bytes:
        """What the handshake, or an alarm, wants to send."""
        return self._outgoing.read() if self._outgoing.pending else b""

    def farewell(self) -> bytes:
        """What tells the client that nothing follows."""
        if self._secured:
            # The other side's farewell is not waited for.
            with suppress(ssl.SSLError):
                self._session.unwrap()
        return self._outgoing.read()

    def _read(self) -> bytes:
        session, incoming = self._session, self._incoming
        if not incoming.pending:
            return b""
        data = session.read(_CHUNK)
        if not incoming.pending and not session.pending():
            self.ended = not data
            return data
        datas = [data]
        # A record that is there in part is waited for; what stands before it is not.
        with suppress(ssl.SSLWantReadError):
            while data:
                data = session.read(_CHUNK)
                datas.append(data)
            self.ended = True
        return b"".join(datas)
