"""Write a NoCloud image: ISO 9660 with Joliet and Rock Ridge names, reproducible byte for byte."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from stockman.talos.nocloud.iso_format import (
    DIRECTORY,
    PARENT,
    SECTOR,
    SELF,
    Extent,
    both16,
    both32,
    directory_record,
    is_file_name,
    long_time,
    pad_sector,
    path_table,
    posix_entries,
    rock_ridge_pointer,
    rock_ridge_reference,
    sectors,
    short_names,
    unsupported_content,
)

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
