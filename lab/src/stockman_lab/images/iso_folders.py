"""ISO 9660 images with folders: Joliet and Rock Ridge names, the same bytes for the same input."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

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
    posix_entries,
    rock_ridge_pointer,
    rock_ridge_reference,
    sectors,
    short_names,
)

_TABLES = 19
_FIRST_FOLDER = _TABLES + 4
_FILE, _FOLDER = 0o100444, 0o040555
_NOWHERE = Extent(0, 0)


@dataclass(slots=True)
class _Folder:
    """One folder; extents are known once everything is laid out."""

    name: str
    above: _Folder | None = None
    folders: dict[str, _Folder] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    places: dict[str, Extent] = field(default_factory=dict)
    posix: Extent = _NOWHERE
    joliet: Extent = _NOWHERE

    @property
    def parent(self) -> _Folder:
        return self.above or self

    def levels(self) -> Iterator[_Folder]:
        """This folder and those below, level by level, as tables of paths list them."""
        row = [self]
        while row:
            yield from row
            row = [below for one in row for _, below in sorted(one.folders.items())]


def folders_image(files: Mapping[str, bytes], moment: datetime, label: str) -> bytes:
    """The bytes of an image with these files by path, `openstack/latest/user_data`."""
    root = _tree(files)
    image = _Image(root, moment.astimezone(UTC), label)
    return b"".join(image.parts())


def _tree(files: Mapping[str, bytes]) -> _Folder:
    root = _Folder("")
    for path, content in sorted(files.items()):
        *above, name = path.split("/")
        if not all(is_file_name(part) for part in (*above, name)):
            raise ValueError(f"an image cannot hold {path!r}")
        folder = root
        for part in above:
            folder = folder.folders.setdefault(part, _Folder(part, folder))
        folder.files[name] = content
    return root


class _Image:
    def __init__(self, root: _Folder, moment: datetime, label: str) -> None:
        self._folders = list(root.levels())
        self._root = root
        self._moment = moment
        self._label = label
        self._note = 0
        self._end = self._laid_out()

    def _laid_out(self) -> int:
        first_folder = _FIRST_FOLDER
        for folder in self._folders:
            folder.posix = Extent(first_folder, len(self._posix_folder(folder)))
            first_folder += sectors(folder.posix.size)
        self._note, first_folder = first_folder, first_folder + 1
        for folder in self._folders:
            folder.joliet = Extent(first_folder, len(self._joliet_folder(folder)))
            first_folder += sectors(folder.joliet.size)
        for folder in self._folders:
            for name, content in folder.files.items():
                folder.places[name] = Extent(first_folder if content else 0, len(content))
                first_folder += sectors(len(content))
        return first_folder

    def parts(self) -> Iterator[bytes]:
        yield b"\x00" * (16 * SECTOR)
        yield self._volume(joliet=False)
        yield self._volume(joliet=True)
        yield pad_sector(b"\xffCD001\x01")
        for joliet in (False, True):
            yield pad_sector(self._path_table("<", joliet=joliet))
            yield pad_sector(self._path_table(">", joliet=joliet))
        yield from map(self._posix_folder, self._folders)
        yield pad_sector(rock_ridge_reference())
        yield from map(self._joliet_folder, self._folders)
        for folder in self._folders:
            yield from map(pad_sector, folder.files.values())

    def _posix_folder(self, folder: _Folder) -> bytes:
        posix = self._posix_of(folder)
        above = self._posix_of(folder.parent)
        if folder is self._root:
            posix = rock_ridge_pointer(posix, self._note, len(rock_ridge_reference()))
        short = _short(folder)
        records = [
            (SELF, self._entry(SELF, folder.posix, DIRECTORY, posix)),
            (PARENT, self._entry(PARENT, folder.parent.posix, DIRECTORY, above)),
        ]
        for name, below in folder.folders.items():
            more = self._posix_of(below, name.encode())
            records.append((short[name], self._entry(short[name], below.posix, DIRECTORY, more)))
        for name in folder.files:
            more = posix_entries(_FILE, 1, self._moment, name.encode())
            extent = folder.places.get(name, _NOWHERE)
            records.append((short[name], self._entry(short[name], extent, 0, more)))
        return _packed(records)

    def _joliet_folder(self, folder: _Folder) -> bytes:
        records = [
            (SELF, self._entry(SELF, folder.joliet, DIRECTORY)),
            (PARENT, self._entry(PARENT, folder.parent.joliet, DIRECTORY)),
        ]
        for name, below in folder.folders.items():
            wide = name.encode("utf-16-be")
            records.append((wide, self._entry(wide, below.joliet, DIRECTORY)))
        for name in folder.files:
            wide = name.encode("utf-16-be")
            records.append((wide, self._entry(wide, folder.places.get(name, _NOWHERE), 0)))
        return _packed(records)

    def _posix_of(self, folder: _Folder, name: bytes = b"") -> bytes:
        return posix_entries(_FOLDER, 2 + len(folder.folders), self._moment, name)

    def _entry(self, name: bytes, extent: Extent, flags: int, more: bytes = b"") -> bytes:
        return directory_record(name, extent, self._moment, flags=flags, more=more)

    def _path_table(self, order: str, *, joliet: bool) -> bytes:
        numbers = {id(folder): number for number, folder in enumerate(self._folders, 1)}
        table = b""
        for folder in self._folders:
            name = b"\x00"
            if folder.above is not None:
                wide = folder.name.encode("utf-16-be")
                name = wide if joliet else _short(folder.above)[folder.name]
            extent = folder.joliet if joliet else folder.posix
            above = numbers[id(folder.parent)]
            table += struct.pack(f"{order}BBIH", len(name), 0, extent.first, above) + name
            table += b"\x00" * (len(name) % 2)
        return table

    def _volume(self, *, joliet: bool) -> bytes:
        text = _wide_text if joliet else _text
        tables = _TABLES + (2 if joliet else 0)
        root = self._root.joliet if joliet else self._root.posix
        size = len(self._path_table("<", joliet=joliet))
        parts = [
            bytes((2 if joliet else 1,)) + b"CD001\x01\x00",
            text("", 32) + text(self._label, 32) + b"\x00" * 8 + both32(self._end),
            (b"%/E" if joliet else b"").ljust(32, b"\x00"),
            both16(1) + both16(1) + both16(SECTOR) + both32(size),
            struct.pack("<II", tables, 0) + struct.pack(">II", tables + 1, 0),
            self._entry(SELF, root, DIRECTORY),
            *(text("", length) for length in (128, 128, 128, 128, 37, 37, 37)),
            long_time(self._moment) * 2 + long_time(None) + long_time(self._moment),
            b"\x01\x00",
        ]
        return pad_sector(b"".join(parts))


def _short(folder: _Folder) -> dict[str, bytes]:
    """Names for old readers; those of folders have no version."""
    found = short_names(sorted((*folder.folders, *folder.files)))
    return {
        name: short.partition(b";")[0].rstrip(b".") if name in folder.folders else short
        for name, short in found.items()
    }


def _packed(records: list[tuple[bytes, bytes]]) -> bytes:
    """Records in the order of their names, none across the end of a sector."""
    content = b""
    for _, one in sorted(records):
        room = SECTOR - len(content) % SECTOR
        if room < len(one):
            content += b"\x00" * room
        content += one
    return pad_sector(content)


def _text(value: str, length: int) -> bytes:
    return value.encode("ascii").ljust(length, b" ")


def _wide_text(value: str, length: int) -> bytes:
    return (value.encode("utf-16-be") + b"\x00 " * length)[: length - length % 2].ljust(
        length, b"\x00"
    )
