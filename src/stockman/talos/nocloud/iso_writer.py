"""A NoCloud image: ISO 9660 with Joliet and Rock Ridge names, the same bytes for the same input."""

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
"""Talos looks for a volume of this name, in small or capital letters."""
MOST_BYTES = 64 * 1024 * 1024
"""Of all files together: far more than a machine configuration, and little enough to hold."""
MOST_FILES = 64
_SYSTEM_AREA = 16
_PATH_TABLES = _SYSTEM_AREA + 3
_FIRST_DIRECTORY = _PATH_TABLES + 4
_PATH_TABLE_SIZE = 10
_FILE, _FOLDER = 0o100444, 0o040555
_FIRST_YEAR, _LAST_YEAR = 1900, 2155


def nocloud_image(files: Mapping[str, bytes], moment: datetime) -> bytes:
    """The bytes of an image with these files; refuses names and sizes that it cannot hold."""
    _check(files, moment)
    content = dict(sorted(files.items()))
    image = _IsoWriter(content, moment.astimezone(UTC))
    return b"".join(image.parts())


class _Layout(NamedTuple):
    """Where everything lies."""

    posix: Extent
    note: int
    """Sector in which Rock Ridge introduces itself."""
    joliet: Extent
    files: dict[str, Extent]
    end: int


class _IsoWriter:
    def __init__(self, files: dict[str, bytes], moment: datetime) -> None:
        self._files = files
        self._moment = moment
        self._short = short_names(files)
        self._layout = self._laid_out()

    def _laid_out(self) -> _Layout:
        """The layout; how long directories are depends on names alone."""
        nowhere = Extent(0, 0)
        blank = _Layout(nowhere, 0, nowhere, dict.fromkeys(self._files, nowhere), 0)
        posix_root = Extent(_FIRST_DIRECTORY, len(self._posix_directory(blank)))
        note = posix_root.first + sectors(posix_root.size)
        joliet_root = Extent(note + 1, len(self._joliet_directory(blank)))
        end = joliet_root.first + sectors(joliet_root.size)
        places = {}
        for name, content in self._files.items():
            places[name] = Extent(end if content else 0, len(content))
            end += sectors(len(content))
        return _Layout(posix_root, note, joliet_root, places, end)

    def parts(self) -> Iterator[bytes]:
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
        here = posix_entries(_FOLDER, 2, self._moment)
        records = [
            self._folder(
                SELF,
                layout.posix,
                rock_ridge_pointer(here, layout.note, len(rock_ridge_reference())),
            ),
            self._folder(PARENT, layout.posix, here),
        ]
        for name in sorted(self._files, key=lambda one: self._short[one]):
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
        parts = [
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
        return pad_sector(b"".join(parts))


def _directory(records: list[bytes]) -> bytes:
    """Records one after another, none across the end of a sector."""
    content = b""
    for one in records:
        room = SECTOR - len(content) % SECTOR
        if room < len(one):
            content += b"\x00" * room
        content += one
    return pad_sector(content)


def _check(files: Mapping[str, bytes], moment: datetime) -> None:
    for name in files:
        if not is_file_name(name):
            raise unsupported_content(
                f"a file called {name!r}",
                "names are letters, digits, dots, dashes and underscores, 64 at most",
            )
    if len({name.lower() for name in files}) != len(files):
        raise unsupported_content(
            "names that differ in case alone", "some readers see only one of them"
        )
    if len(files) > MOST_FILES:
        raise unsupported_content(f"{len(files)} files", f"{MOST_FILES} is the most")
    size = sum(len(content) for content in files.values())
    if size > MOST_BYTES:
        raise unsupported_content(f"{size} bytes", f"{MOST_BYTES} is the most")
    if not _FIRST_YEAR <= moment.astimezone(UTC).year <= _LAST_YEAR:
        raise unsupported_content(
            f"the year {moment.year}", f"years go from {_FIRST_YEAR} to {_LAST_YEAR}"
        )
