"""Write a NoCloud image: ISO 9660 with Joliet and Rock Ridge names, reproducible byte for byte."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
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


LABEL = "cidata"
"""Volume label that Talos looks for, in lower or upper case."""
MOST_BYTES = 64 * 1024 * 1024
"""Total size of all files: far more than any machine configuration needs."""
MOST_FILES = 64
_SYSTEM_AREA = 16
_PATH_TABLES = _SYSTEM_AREA + 3
_FIRST_DIRECTORY = _PATH_TABLES + 4
_PATH_TABLE_SIZE = 10
_FILE, _FOLDER = 0o100444, 0o040555
_FIRST_YEAR, _LAST_YEAR = 1900, 2155


def nocloud_image(files: Mapping[str, bytes], moment: datetime) -> bytes:
    """Return the bytes of an image with these files; raises Refused for invalid names and sizes."""
    _check(files, moment)
    content = dict(sorted(files.items()))
    image = _IsoWriter(content, moment.astimezone(UTC))
    return b"".join(image.chunks())


class _Layout(NamedTuple):
    """Positions of all content."""

    posix: Extent
    note: int
    """Sector of the Rock Ridge description."""
    joliet: Extent
    files: dict[str, Extent]
    end: int


class _IsoWriter:
    def __init__(self, files: dict[str, bytes], moment: datetime) -> None:
        self._files = files
        self._moment = moment
        self._short = short_names(files)
        self._layout = self._compute_layout()

    def _compute_layout(self) -> _Layout:
        """Return the layout; directory sizes depend only on names."""
        empty = Extent(0, 0)
        blank = _Layout(empty, 0, empty, dict.fromkeys(self._files, empty), 0)
        posix_root = Extent(_FIRST_DIRECTORY, len(self._posix_directory(blank)))
        note = posix_root.first + sectors(posix_root.size)
        joliet_root = Extent(note + 1, len(self._joliet_directory(blank)))
        end = joliet_root.first + sectors(joliet_root.size)
        extents = {}
        for name, content in self._files.items():
            extents[name] = Extent(end if content else 0, len(content))
            end += sectors(len(content))
        return _Layout(posix_root, note, joliet_root, extents, end)

    def chunks(self) -> Iterator[bytes]:
        layout = self._layout
        yield b"\x00" * (_SYSTEM_AREA * SECTOR)
        yield self._volume(layout, joliet=False)
        yield self._volume(layout, joliet=True)
        yield pad_sector(b"\xffCD001\x01")
        for root in (layout.posix, layout.joliet):
            yield pad_sector(path_table(root.first, "<"))
            yield pad_sector(path_table(root.first, ">"))
        yield self._posix_directory(layout)
        yield pad_sector(rock_ridge_reference())
        yield self._joliet_directory(layout)
        for content in self._files.values():
            yield pad_sector(content)

    def _posix_directory(self, layout: _Layout) -> bytes:
        entries = posix_entries(_FOLDER, 2, self._moment)
        records = [
            self._folder(
                SELF,
                layout.posix,
                rock_ridge_pointer(entries, layout.note, len(rock_ridge_reference())),
            ),
            self._folder(PARENT, layout.posix, entries),
        ]
        for name in sorted(self._files, key=lambda file: self._short[file]):
            more = posix_entries(_FILE, 1, self._moment, name.encode("ascii"))
            records.append(
                directory_record(self._short[name], layout.files[name], self._moment, more=more)
            )
        return _directory(records)

    def _joliet_directory(self, layout: _Layout) -> bytes:
        files = [
            directory_record(name.encode("utf-16-be"), layout.files[name], self._moment)
            for name in self._files
        ]
        folders = [self._folder(name, layout.joliet) for name in (SELF, PARENT)]
        return _directory([*folders, *files])

    def _folder(self, name: bytes, extent: Extent, more: bytes = b"") -> bytes:
        return directory_record(name, extent, self._moment, flags=DIRECTORY, more=more)

    def _volume(self, layout: _Layout, *, joliet: bool) -> bytes:
        coding, blank = ("utf-16-be", b"\x00 ") if joliet else ("ascii", b" ")

        def text(value: str, length: int) -> bytes:
            raw = value.encode(coding)
            return (raw + blank * length)[: length - length % len(blank)].ljust(length, b"\x00")

        tables = _PATH_TABLES + (2 if joliet else 0)
        fields = [
            bytes((2 if joliet else 1,)) + b"CD001\x01\x00",
            text("", 32) + text(LABEL, 32) + b"\x00" * 8,
            both32(layout.end),
            (b"%/E" if joliet else b"").ljust(32, b"\x00"),
            both16(1) + both16(1) + both16(SECTOR) + both32(_PATH_TABLE_SIZE),
            struct.pack("<II", tables, 0) + struct.pack(">II", tables + 1, 0),
            self._folder(SELF, layout.joliet if joliet else layout.posix),
            *(text("", length) for length in (128, 128, 128, 128, 37, 37, 37)),
            long_time(self._moment) * 2 + long_time(None) + long_time(self._moment),
            b"\x01\x00",
        ]
        return pad_sector(b"".join(fields))


def _directory(records: list[bytes]) -> bytes:
    """Return records padded so that none crosses a sector boundary."""
    content = b""
    for entry in records:
        room = SECTOR - len(content) % SECTOR
        if room < len(entry):
            content += b"\x00" * room
        content += entry
    return pad_sector(content)


def _check(files: Mapping[str, bytes], moment: datetime) -> None:
    for name in files:
        if not is_file_name(name):
            raise unsupported_content(
                f"a file called {name!r}",
                "names may contain up to 64 letters, digits, dots, dashes and underscores",
            )
    if len({name.lower() for name in files}) != len(files):
        raise unsupported_content(
            "names that differ only in case", "some readers see only one of them"
        )
    if len(files) > MOST_FILES:
        raise unsupported_content(f"{len(files)} files", f"the maximum is {MOST_FILES}")
    size = sum(len(content) for content in files.values())
    if size > MOST_BYTES:
        raise unsupported_content(f"{size} bytes", f"the maximum is {MOST_BYTES}")
    if not _FIRST_YEAR <= moment.astimezone(UTC).year <= _LAST_YEAR:
        raise unsupported_content(
            f"the year {moment.year}", f"valid years are {_FIRST_YEAR} to {_LAST_YEAR}"
        )
