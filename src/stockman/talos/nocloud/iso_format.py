"""The ISO 9660 format: records, names and dates, with Joliet and Rock Ridge extensions."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from stockman.model.errors import Refused
from stockman.model.pattern import pattern
from stockman.model.problem import Problem


def unsupported_content(what: str, why: str) -> Refused:
    """Return the error for an image that cannot be written."""
    return Refused(
        Problem(
            code="nocloud.image-content",
            what=f"a NoCloud image cannot hold {what}",
            why=why,
            fix="reduce the content, and use plain names such as user-data",
        )
    )


def unreadable_image(file: str, why: str) -> Refused:
    """Return the error for an image that cannot be read."""
    return Refused(
        Problem(
            code="nocloud.image-unreadable",
            what="this is not a readable ISO image",
            where=file,
            why=why,
            fix="create the image again; `stockman config nocloud NODE --iso FILE` writes one",
        )
    )


LONGEST_FILE_NAME = 64
"""Maximum length of a Joliet name in characters."""
_FILE_NAME = pattern(rf"[A-Za-z0-9._-]{{1,{LONGEST_FILE_NAME}}}")
_STEM, _SUFFIX = 8, 3


def is_file_name(name: str) -> bool:
    """Whether a file on the image may have this name."""
    return _FILE_NAME.fullmatch(name) is not None and name.strip(".") != ""


def short_names(names: Iterable[str]) -> dict[str, bytes]:
    """Map names to unique ISO 9660 level 1 names: eight characters, a dot, three characters."""
    taken: set[str] = set()
    by_name: dict[str, bytes] = {}
    for name in names:
        stem, _, suffix = name.rpartition(".") if "." in name.strip(".") else (name, "", "")
        stem, suffix = _ascii_letters(stem), _ascii_letters(suffix)[:_SUFFIX]
        short, number = f"{stem[:_STEM]}.{suffix}", 0
        while short in taken:
            mark = str(number)
            short, number = f"{stem[: _STEM - len(mark)]}{mark}.{suffix}", number + 1
        taken.add(short)
        by_name[name] = f"{short};1".encode("ascii")
    return by_name


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
"""Identification of the Rock Ridge extension, as its specification requires it."""
_RIGHTS_AND_TIMES, _HAS_NAME = 0x81, 0x08
"""Flags for the entries that are present: PX and TF, NM."""


class Extent(NamedTuple):
    """The first sector and the size in bytes of some content."""

    first: int
    size: int


def both16(number: int) -> bytes:
    return struct.pack("<H", number) + struct.pack(">H", number)


def both32(number: int) -> bytes:
    return struct.pack("<I", number) + struct.pack(">I", number)


def sectors(size: int) -> int:
    """Return the number of sectors for a size in bytes."""
    return -(-size // SECTOR)


def pad_sector(content: bytes) -> bytes:
    """Return the content padded to whole sectors."""
    return content + b"\x00" * (sectors(len(content)) * SECTOR - len(content))


def short_time(moment: datetime) -> bytes:
    """Return a UTC date in the form of directory records."""
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
    """Return a date in the form of volume descriptors; None: not set."""
    digits = "0" * 16 if moment is None else f"{moment:%Y%m%d%H%M%S}00"
    return digits.encode("ascii") + b"\x00"


def directory_record(
    name: bytes, extent: Extent, moment: datetime, *, flags: int = 0, more: bytes = b""
) -> bytes:
    """Return one directory entry; `more` are its Rock Ridge entries."""
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
    """Return the path table of a volume with only a root directory; `order` is `<` or `>`."""
    return struct.pack(f"{order}BBIH", 1, 0, extent, 1) + b"\x00\x00"


def posix_entries(mode: int, links: int, moment: datetime, name: bytes = b"") -> bytes:
    """Return the Rock Ridge entries for permissions, times and name of a file."""
    rights = b"PX\x24\x01" + both32(mode) + both32(links) + both32(0) + both32(0)
    times = b"TF\x1a\x01\x0e" + short_time(moment) * 3
    named = b"NM" + bytes((5 + len(name), 1, 0)) + name if name else b""
    present = _RIGHTS_AND_TIMES | (_HAS_NAME if name else 0)
    return b"RR\x05\x01" + bytes((present,)) + rights + times + named


def rock_ridge_pointer(entries: bytes, extent: int, length: int) -> bytes:
    """Return the root directory's entries that announce Rock Ridge and refer to its description.

    Some readers stop at the first continuation entry, so it comes last.
    """
    elsewhere = b"CE\x1c\x01" + both32(extent) + both32(0) + both32(length)
    return b"SP\x07\x01\xbe\xef\x00" + entries + elsewhere


def rock_ridge_reference() -> bytes:
    """Return the entry that describes the Rock Ridge extension."""
    lengths = bytes((len(_RRIP_NAME), len(_RRIP_DESCRIPTION), len(_RRIP_SOURCE), 1))
    body = lengths + _RRIP_NAME + _RRIP_DESCRIPTION + _RRIP_SOURCE
    return b"ER" + bytes((len(body) + 4, 1)) + body
