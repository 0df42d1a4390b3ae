"""Decode files: size, encoding and byte order marks."""

from __future__ import annotations

from stockman.model.origin import Position
from stockman.model.problem import Problem

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 64
MAX_ALIASED = 100_000
"""Maximum number of values that aliases may add to a file."""

_BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "UTF-8 with a byte order mark",
    b"\xff\xfe": "UTF-16 (little endian)",
    b"\xfe\xff": "UTF-16 (big endian)",
}


class Unreadable(Exception):
    """A file that cannot be parsed; carries the problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def decode_text(file: str, content: bytes) -> str:
    """Decode the text of a file; raises `Unreadable` if it is too large or not UTF-8."""
    if len(content) > MAX_BYTES:
        raise Unreadable(
            Problem(
                code="file.too-large",
                what=f"{file} is larger than a configuration can be",
                where=file,
                why=f"it has more than the {MAX_BYTES:,} bytes that are read",
                fix="check that this is the right file; split generated parts off",
            )
        )
    for mark, name in _BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            raise Unreadable(
                Problem(
                    code="file.byte-order-mark",
                    what=f"{file} starts with a byte order mark",
                    where=Position(file, 1, 1),
                    why=f"it is saved as {name}; other tools of the field read plain UTF-8 only",
                    fix="save the file as UTF-8 without a byte order mark",
                )
            )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        raise Unreadable(
            Problem(
                code="file.encoding",
                what=f"{file} is not UTF-8 text",
                where=Position(file, line, column),
                why=f"byte 0x{content[error.start]:02x} cannot stand here",
                fix="save the file as UTF-8",
            )
        ) from None
