"""What is said of images that cannot be made or read."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from stockman.model.errors import Refused
from stockman.model.problem import Problem


def unsupported_content(what: str, why: str) -> Refused:
    """An image that cannot be made."""
    return Refused(
        Problem(
            code="nocloud.image-content",
            what=f"a NoCloud image cannot hold {what}",
            why=why,
            fix="make the content smaller, and use plain names such as user-data",
        )
    )


def unreadable_image(file: str, why: str) -> Refused:
    """An image that cannot be read."""
    return Refused(
        Problem(
            code="nocloud.image-unreadable",
            what="this is no image that can be read",
            where=file,
            why=why,
            fix="make the image again; `stockman config nocloud NODE --iso FILE` writes one",
        )
    )


LONGEST_FILE_NAME = 64
"""Characters that Joliet holds."""
_FILE_NAME = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST_FILE_NAME}}}")
_STEM, _SUFFIX = 8, 3


def is_file_name(name: str) -> bool:
    """Whether a file may be called so."""
    return _FILE_NAME.fullmatch(name) is not None and name.strip(".") != ""


def short_names(names: Iterable[str]) -> dict[str, bytes]:
    """Names of level 1 by name: eight characters, a dot, three, each once."""
    taken: set[str] = set()
    found: dict[str, bytes] = {}
    for name in names:
        stem, _, suffix = name.rpartition(".") if "." in name.strip(".") else (name, "", "")
        stem, suffix = _ascii_letters(stem), _ascii_letters(suffix)[:_SUFFIX]
        short, number = f"{stem[:_STEM]}.{suffix}", 0
        while short in taken:
            mark = str(number)
            short, number = f"{stem[: _STEM - len(mark)]}{mark}.{suffix}", number + 1
        taken.add(short)
        found[name] = f"{short};1".encode("ascii")
    return found


def _ascii_letters(text: str) -> str:
    return re.sub(r"[^A-Z0-9_]", "_", text.upper())


SECTOR = 2048
DIRECTORY = 2
"""Flag of a record."""
SELF, PARENT = b"\x00", b"\x01"
_RRIP_NAME = b"RRIP_1991A"
_RRIP_DESCRIPTION = (
    b"THE ROCK RIDGE INTERCHANGE PROTOCOL PROVIDES SUPPORT FOR POSIX FILE SYSTEM SEMANTICS"
)
_RRIP_SOURCE = (
    b"PLEASE CONTACT DISC PUBLISHER FOR SPECIFICATION SOURCE.  SEE PUBLISHER IDENTIFIER IN "
    b"PRIMARY VOLUME DESCRIPTOR FOR CONTACT INFORMATION."
)
"""How Rock Ridge says what it is; readers know the words."""
_RIGHTS_AND_TIMES, _HAS_NAME = 0x81, 0x08
"""Which entries there are: PX and TF, NM."""


class Extent(NamedTuple):
    """Where content lies: its first sector, and its bytes."""

    first: int
    size: int


def both16(number: int) -> bytes:
    return struct.pack("<H", number) + struct.pack(">H", number)


def both32(number: int) -> bytes:
    return struct.pack("<I", number) + struct.pack(">I", number)


def sectors(size: int) -> int:
    """Sectors that so many bytes take."""
    return -(-size // SECTOR)


def pad_sector(content: bytes) -> bytes:
    """The content, filled up to whole sectors."""
    return content + b"\x00" * (sectors(len(content)) * SECTOR - len(content))


def short_time(moment: datetime) -> bytes:
    """A moment as records hold it, in UTC."""
    return bytes(
        (
            moment.year - 1900,
            moment.month,
            moment.day,
            moment.hour,
            moment.minute,
            moment.second,
            0,
        )
    )


def long_time(moment: datetime | None) -> bytes:
    """A moment as volumes hold it; None: not said."""
    digits = "0" * 16 if moment is None else f"{moment:%Y%m%d%H%M%S}00"
    return digits.encode("ascii") + b"\x00"


def directory_record(
    name: bytes, extent: Extent, moment: datetime, *, flags: int = 0, more: bytes = b""
) -> bytes:
    """One entry of a directory; `more` is what Rock Ridge says of it."""
    pad = b"" if len(name) % 2 else b"\x00"
    body = (
        both32(extent.first)
        + both32(extent.size)
        + short_time(moment)
        + bytes((flags, 0, 0))
        + both16(1)
        + bytes((len(name),))
        + name
        + pad
        + more
    )
    length = len(body) + 2
    tail = b"\x00" if length % 2 else b""
    return bytes((length + len(tail), 0)) + body + tail


def path_table(extent: int, order: str) -> bytes:
    """The table of a volume with no directory but the first; `order` is `<` or `>`."""
    return struct.pack(f"{order}BBIH", 1, 0, extent, 1) + b"\x00\x00"


def posix_entries(mode: int, links: int, moment: datetime, name: bytes = b"") -> bytes:
    """Rights, times and the name of a file, and a note on which of these there are."""
    rights = b"PX\x24\x01" + both32(mode) + both32(links) + both32(0) + both32(0)
    times = b"TF\x1a\x01\x0e" + short_time(moment) * 3
    named = b"NM" + bytes((5 + len(name), 1, 0)) + name if name else b""
    present = _RIGHTS_AND_TIMES | (_HAS_NAME if name else 0)
    return b"RR\x05\x01" + bytes((present,)) + rights + times + named


def rock_ridge_pointer(entries: bytes, extent: int, length: int) -> bytes:
    """Says that Rock Ridge is spoken, before its entries, and behind them where it says what it is.

    Some readers look no further than the first thing that is elsewhere.
    """
    elsewhere = b"CE\x1c\x01" + both32(extent) + both32(0) + both32(length)
    return b"SP\x07\x01\xbe\xef\x00" + entries + elsewhere


def rock_ridge_reference() -> bytes:
    """Which extension this is."""
    lengths = bytes((len(_RRIP_NAME), len(_RRIP_DESCRIPTION), len(_RRIP_SOURCE), 1))
    body = lengths + _RRIP_NAME + _RRIP_DESCRIPTION + _RRIP_SOURCE
    return b"ER" + bytes((len(body) + 4, 1)) + body
