"""The header of an age file: one stanza per recipient and a MAC, read from a stream of chunks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable

from stockman.crypto.age import problems
from stockman.crypto.hkdf import derive_key
from stockman.model.pattern import pattern
from stockman.model.record import record

COLUMNS = 64
BYTES_PER_LINE = COLUMNS // 4 * 3

_ALPHABET = pattern(r"[A-Za-z0-9+/]*")


def encode_base64(data: bytes) -> str:
    """Encode base64 without padding."""
    return base64.b64encode(data).decode("ascii").rstrip("=")


def decode_base64(text: str) -> bytes:
    """Decode unpadded base64; raises ValueError for every other spelling."""
    if _ALPHABET.fullmatch(text) is None:
        raise ValueError("a character that is not base64")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        raise ValueError("a length that base64 does not have") from None
    if encode_base64(data) != text:
        raise ValueError("bits behind the end")
    return data


def wrap_base64(data: bytes) -> str:
    """Encode unpadded base64 in lines of 64; the last line is shorter, possibly empty."""
    text = encode_base64(data)
    return "".join(
        f"{text[start : start + COLUMNS]}\n" for start in range(0, len(text) + 1, COLUMNS)
    )


CLASSIC_BYTES = 32
"""X25519, both halves."""
HYBRID_SEED_BYTES = 32
HYBRID_PUBLIC_BYTES = 1184 + CLASSIC_BYTES
"""ML-KEM-768 and X25519."""


FILE_KEY_BYTES = 16
MAC_BYTES = 32

_INTRO = b"age-encryption.org/v1\n"
_STANZA = "->"
_FOOTER = "---"
_WORD = pattern(r"[!-~]+")
_MAX_BYTES = 2 << 20
_MAX_STANZAS = 1024
_MAX_WORDS = 129


@record
class Stanza:
    """The file key, wrapped for one recipient."""

    kind: str
    arguments: tuple[str, ...]
    body: bytes

    def __bytes__(self) -> bytes:
        line = " ".join([_STANZA, self.kind, *self.arguments])
        return f"{line}\n{wrap_base64(self.body)}".encode("ascii")


@record
class Header:
    """The data before the payload."""

    stanzas: tuple[Stanza, ...]
    mac: bytes

    def __bytes__(self) -> bytes:
        return _header_without_mac(self.stanzas) + f" {encode_base64(self.mac)}\n".encode("ascii")


def build_header(stanzas: tuple[Stanza, ...], file_key: bytes) -> Header:
    """Build a header with the MAC of the file key."""
    return Header(stanzas=stanzas, mac=_compute_mac(stanzas, file_key))


def has_valid_mac(header: Header, file_key: bytes) -> bool:
    """Return whether the MAC of a header matches the file key."""
    return hmac.compare_digest(header.mac, _compute_mac(header.stanzas, file_key))


def read_header(source: ByteStream, where: str) -> Header:
    """Read the header at the start of a file; the stream is then at the payload."""
    return _HeaderReader(source, where).header()


def decode_share(stanza: Stanza, size: int, where: str, name: str) -> bytes:
    """Return the only argument of a stanza, and check the size of its wrapped key."""
    if len(stanza.arguments) != 1:
        raise problems.bad_stanza(where, f"{name} recipient does not have exactly one share")
    try:
        share = decode_base64(stanza.arguments[0])
    except ValueError as error:
        raise problems.bad_stanza(where, f"the share of {name} recipient has {error}") from None
    if len(share) != size:
        raise problems.bad_stanza(
            where, f"the share of {name} recipient does not have {size} bytes"
        )
    if len(stanza.body) != FILE_KEY_BYTES + 16:
        raise problems.bad_stanza(where, f"{name} recipient does not hold a key of 16 bytes")
    return share


def _compute_mac(stanzas: tuple[Stanza, ...], file_key: bytes) -> bytes:
    key = derive_key(file_key, b"", b"header")
    return hmac.digest(key, _header_without_mac(stanzas), hashlib.sha256)


def _header_without_mac(stanzas: tuple[Stanza, ...]) -> bytes:
    return _INTRO + b"".join(bytes(stanza) for stanza in stanzas) + _FOOTER.encode("ascii")


class _HeaderReader:
    def __init__(self, source: ByteStream, where: str) -> None:
        self._source = source
        self._where = where
        self._left = _MAX_BYTES

    def header(self) -> Header:
        self._read_intro()
        stanzas: list[Stanza] = []
        while True:
            arguments = self._words()
            if arguments[0] == _FOOTER:
                break
            if arguments[0] != _STANZA or len(arguments) < 2:
                raise problems.bad_header(self._where, "a line does not begin with `->` or `---`")
            if len(stanzas) == _MAX_STANZAS:
                raise problems.bad_header(self._where, f"more than {_MAX_STANZAS} recipients")
            stanzas.append(
                Stanza(kind=arguments[1], arguments=tuple(arguments[2:]), body=self._body())
            )
        if not stanzas:
            raise problems.bad_header(self._where, "it names no recipient")
        return Header(stanzas=tuple(stanzas), mac=self._closing(arguments))

    def _read_intro(self) -> None:
        line = self._source.read_line(len(_INTRO))
        if not line:
            raise problems.unexpected_end(self._where, "it is empty")
        if line == _INTRO:
            return
        if line[:-1] + b"\n" == _INTRO or line.endswith(b"\r\n"):
            raise problems.bad_header(self._where, "its line ends are CRLF, as Windows writes text")
        raise problems.bad_header(self._where, "its first line is not that of version 1")

    def _words(self) -> list[str]:
        arguments = self._line().split(" ")
        if len(arguments) > _MAX_WORDS or not all(
            _WORD.fullmatch(argument) for argument in arguments
        ):
            raise problems.bad_header(self._where, "a line holds something else than words")
        return arguments

    def _body(self) -> bytes:
        body = bytearray()
        while True:
            try:
                data = decode_base64(self._line())
            except ValueError as error:
                raise problems.bad_header(self._where, f"base64 with {error}") from None
            if len(data) > BYTES_PER_LINE:
                raise problems.bad_header(self._where, "a line is too long")
            body += data
            if len(data) < BYTES_PER_LINE:
                return bytes(body)

    def _closing(self, arguments: list[str]) -> bytes:
        try:
            (_, text) = arguments
            mac = decode_base64(text)
        except ValueError:
            mac = b""
        if len(mac) != MAC_BYTES:
            raise problems.bad_header(self._where, "its last line holds no check sum")
        return mac

    def _line(self) -> str:
        line = self._source.read_line(self._left)
        self._left -= len(line)
        if not line.endswith(b"\n"):
            if self._left <= 0:
                raise problems.bad_header(self._where, "it is longer than 2 MiB")
            raise problems.unexpected_end(self._where, "the end comes inside of its header")
        try:
            return line[:-1].decode("ascii")
        except UnicodeDecodeError:
            raise problems.bad_header(self._where, "a byte in it is not ASCII") from None


class ByteStream:
    """Reads exact amounts from an iterable of bytes, buffering little more than one chunk."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._parts = iter(chunks)
        self._held = memoryview(b"")

    def read(self, size: int) -> bytes | memoryview:
        """Return the next `size` bytes; fewer only at the end."""
        if len(self._held) >= size:
            taken, self._held = self._held[:size], self._held[size:]
            return taken
        data = bytearray(self._held)
        self._held = memoryview(b"")
        for chunk in self._parts:
            missing = size - len(data)
            view = memoryview(chunk)
            data += view[:missing]
            if len(view) >= missing:
                self._held = view[missing:]
                break
        return bytes(data)

    def read_line(self, limit: int) -> bytes:
        """Return bytes up to and including the next line feed, or up to the end or limit."""
        data = bytearray()
        while len(data) < limit:
            if not self._held and not self._refill():
                break
            end = bytes(self._held[: limit - len(data)]).find(b"\n")
            size = min(end + 1 if end >= 0 else len(self._held), limit - len(data))
            data += self._held[:size]
            self._held = self._held[size:]
            if end >= 0:
                break
        return bytes(data)

    @property
    def at_end(self) -> bool:
        return not self._held and not self._refill()

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes without consuming them; fewer only at the end."""
        data = bytes(self.read(size))
        self._held = memoryview(data + bytes(self._held))
        return data

    def _refill(self) -> bool:
        for chunk in self._parts:
            if chunk:
                self._held = memoryview(chunk)
                return True
        return False
