"""The armor of age: a file as text between two lines, 64 columns of base64."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator

from stockman.crypto.age import problems
from stockman.crypto.age.base64 import BYTES_PER_LINE, COLUMNS
from stockman.crypto.age.source import Source

BEGIN = b"-----BEGIN AGE ENCRYPTED FILE-----"
END = b"-----END AGE ENCRYPTED FILE-----"

_BLOCK = BYTES_PER_LINE * 1024
_SPACE = 1024


def armored(parts: Iterable[bytes]) -> Iterator[bytes]:
    """A binary age file as text."""
    yield BEGIN + b"\n"
    source = Source(parts)
    while block := source.take(_BLOCK):
        text = base64.b64encode(block)
        yield b"".join(
            text[start : start + COLUMNS] + b"\n" for start in range(0, len(text), COLUMNS)
        )
    yield END + b"\n"


def is_armored(source: Source) -> bool:
    """Whether what comes next is armor, blank lines before it included."""
    return source.peek(_SPACE).lstrip().startswith(BEGIN[:10])


def unarmored(source: Source, where: str) -> Iterator[bytes]:
    """The binary age file inside of armor."""
    lines = _Lines(source, where)
    lines.skip_space()
    if lines.next() != BEGIN:
        raise problems.bad_armor(where, "its first line is not the BEGIN line of age")
    ended = False
    while (line := lines.next()) != END:
        if ended:
            raise problems.bad_armor(where, "a line follows one that is shorter than 64 columns")
        data = _line_bytes(line, where)
        ended = len(data) < BYTES_PER_LINE
        yield data
    lines.expect_end()


def _line_bytes(line: bytes, where: str) -> bytes:
    if not line:
        raise problems.bad_armor(where, "an empty line stands in it")
    if len(line) > COLUMNS:
        raise problems.bad_armor(where, f"a line is longer than {COLUMNS} columns")
    try:
        data = base64.b64decode(line, validate=True)
    except binascii.Error:
        raise problems.bad_armor(where, "a line is not base64") from None
    if base64.b64encode(data) != line:
        raise problems.bad_armor(where, "a line is not the base64 of anything")
    return data


class _Lines:
    def __init__(self, source: Source, where: str) -> None:
        self._source = source
        self._where = where

    def next(self) -> bytes:
        line = self._source.line(COLUMNS * 2)
        if not line:
            raise problems.truncated(self._where, "its END line is missing")
        return line.removesuffix(b"\n").removesuffix(b"\r")

    def skip_space(self) -> None:
        head = self._source.peek(_SPACE)
        self._source.take(len(head) - len(head.lstrip()))

    def expect_end(self) -> None:
        rest = bytes(self._source.take(_SPACE))
        if rest.strip() or len(rest) == _SPACE:
            raise problems.bad_armor(self._where, "something follows its END line")
