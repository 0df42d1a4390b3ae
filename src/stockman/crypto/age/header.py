"""The header of an age file: one stanza per recipient, and a check sum over them all."""

from __future__ import annotations

import hashlib
import hmac
import re

from stockman.crypto.age import problems
from stockman.crypto.age.base64 import BYTES_PER_LINE, decoded, encoded, wrapped
from stockman.crypto.age.source import Source
from stockman.crypto.hkdf import derived_key
from stockman.model.record import record

FILE_KEY_BYTES = 16
MAC_BYTES = 32

_INTRO = b"age-encryption.org/v1\n"
_STANZA = "->"
_FOOTER = "---"
_WORD = re.compile(r"[!-~]+")
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
        words = " ".join([_STANZA, self.kind, *self.arguments])
        return f"{words}\n{wrapped(self.body)}".encode("ascii")


@record
class Header:
    """What stands before the payload."""

    stanzas: tuple[Stanza, ...]
    mac: bytes

    def __bytes__(self) -> bytes:
        return _unsigned(self.stanzas) + f" {encoded(self.mac)}\n".encode("ascii")


def signed_header(stanzas: tuple[Stanza, ...], file_key: bytes) -> Header:
    """The header with the check sum that the file key gives."""
    return Header(stanzas=stanzas, mac=_mac(stanzas, file_key))


def is_signed(header: Header, file_key: bytes) -> bool:
    """Whether the check sum of a header is the one that the file key gives."""
    return hmac.compare_digest(header.mac, _mac(header.stanzas, file_key))


def read_header(source: Source, where: str) -> Header:
    """The header at the beginning of a file; the source then stands at the payload."""
    return _HeaderReader(source, where).header()


def _mac(stanzas: tuple[Stanza, ...], file_key: bytes) -> bytes:
    key = derived_key(file_key, b"", b"header")
    return hmac.digest(key, _unsigned(stanzas), hashlib.sha256)


def _unsigned(stanzas: tuple[Stanza, ...]) -> bytes:
    return _INTRO + b"".join(bytes(stanza) for stanza in stanzas) + _FOOTER.encode("ascii")


class _HeaderReader:
    def __init__(self, source: Source, where: str) -> None:
        self._source = source
        self._where = where
        self._left = _MAX_BYTES

    def header(self) -> Header:
        self._read_intro()
        stanzas: list[Stanza] = []
        while True:
            words = self._words()
            if words[0] == _FOOTER:
                break
            if words[0] != _STANZA or len(words) < 2:
                raise problems.bad_header(self._where, "a line does not begin with `->` or `---`")
            if len(stanzas) == _MAX_STANZAS:
                raise problems.bad_header(self._where, f"more than {_MAX_STANZAS} recipients")
            stanzas.append(Stanza(kind=words[1], arguments=tuple(words[2:]), body=self._body()))
        if not stanzas:
            raise problems.bad_header(self._where, "it names no recipient")
        return Header(stanzas=tuple(stanzas), mac=self._closing(words))

    def _read_intro(self) -> None:
        line = self._source.line(len(_INTRO))
        if not line:
            raise problems.truncated(self._where, "it is empty")
        if line == _INTRO:
            return
        if line[:-1] + b"\n" == _INTRO or line.endswith(b"\r\n"):
            raise problems.bad_header(self._where, "its line ends are CRLF, as Windows writes text")
        raise problems.bad_header(self._where, "its first line is not that of version 1")

    def _words(self) -> list[str]:
        words = self._line().split(" ")
        if len(words) > _MAX_WORDS or not all(_WORD.fullmatch(word) for word in words):
            raise problems.bad_header(self._where, "a line holds something else than words")
        return words

    def _body(self) -> bytes:
        body = bytearray()
        while True:
            try:
                data = decoded(self._line())
            except ValueError as error:
                raise problems.bad_header(self._where, f"base64 with {error}") from None
            if len(data) > BYTES_PER_LINE:
                raise problems.bad_header(self._where, "a line is too long")
            body += data
            if len(data) < BYTES_PER_LINE:
                return bytes(body)

    def _closing(self, words: list[str]) -> bytes:
        try:
            (_, text) = words
            mac = decoded(text)
        except ValueError:
            mac = b""
        if len(mac) != MAC_BYTES:
            raise problems.bad_header(self._where, "its last line holds no check sum")
        return mac

    def _line(self) -> str:
        line = self._source.line(self._left)
        self._left -= len(line)
        if not line.endswith(b"\n"):
            if self._left <= 0:
                raise problems.bad_header(self._where, "it is longer than 2 MiB")
            raise problems.truncated(self._where, "the end comes inside of its header")
        try:
            return line[:-1].decode("ascii")
        except UnicodeDecodeError:
            raise problems.bad_header(self._where, "a byte in it is not ASCII") from None
