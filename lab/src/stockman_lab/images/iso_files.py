"""Read the files of a NoCloud image by their Rock Ridge, Joliet or plain names."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from stockman.model.record import record
from stockman.talos.nocloud.iso_format import DIRECTORY, PARENT, SECTOR, SELF
from stockman_lab.images.facts import CorruptImage

_FIRST, _MOST_VOLUMES = 16, 64
_PRIMARY, _JOLIET, _END = 1, 2, 255
_ESCAPES = (b"%/@", b"%/C", b"%/E")
_DEEPEST, _MOST_ENTRIES = 8, 4096
_MULTIPLE = 0x80
_CONTINUES = 1
_HEAD = 33


@record
class IsoImage:
    """The content of an image."""

    label: str
    files: dict[str, bytes]
    """Contents by path, `user-data`."""


def read_iso(content: bytes) -> IsoImage:
    """Return the files of an image; raises CorruptImage if it is invalid or damaged."""
    return _IsoReader(content).read()


class _DirectoryEntry(NamedTuple):
    raw: bytes
    """The name as stored in the record."""
    extent: int
    size: int
    flags: int
    more: bytes

    @property
    def is_directory(self) -> bool:
        return bool(self.flags & DIRECTORY)


class _IsoReader:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._left = _MOST_ENTRIES
        self._coding = "ascii"
        self._skip: int | None = None
        """Bytes before the Rock Ridge entries. None: there are none."""

    def read(self) -> IsoImage:
        primary, joliet = self._volumes()
        root = self._entry(primary, 156)
        first = next(iter(self._entries(root)), None)
        announced = first.more if first is not None else b""
        self._skip = announced[6] if announced[:2] == b"SP" and len(announced) > 6 else None
        label = primary[40:72].decode("ascii", "replace").rstrip(" \x00")
        if self._skip is None and joliet is not None:
            self._coding = "utf-16-be"
            root = self._entry(joliet, 156)
        return IsoImage(label=label, files=dict(self._files(root, "", 0)))

    def _volumes(self) -> tuple[bytes, bytes | None]:
        primary = joliet = None
        for number in range(_FIRST, _FIRST + _MOST_VOLUMES):
            volume = self._slice(number * SECTOR, SECTOR)
            if volume[1:6] != b"CD001":
                raise CorruptImage(f"sector {number} is not a volume descriptor")
            if volume[0] == _END:
                break
            if volume[0] == _PRIMARY and primary is None:
                primary = volume
            if volume[0] == _JOLIET and volume[88:91] in _ESCAPES:
                joliet = volume
        if primary is None:
            raise CorruptImage("it has no primary volume")
        return primary, joliet

    def _files(
        self, folder: _DirectoryEntry, above: str, depth: int
    ) -> Iterator[tuple[str, bytes]]:
        if depth > _DEEPEST:
            raise CorruptImage(f"folders are nested deeper than {_DEEPEST} levels")
        for entry in self._entries(folder):
            if entry.raw in (SELF, PARENT):
                continue
            path = above + self._name(entry)
            if entry.is_directory:
                yield from self._files(entry, f"{path}/", depth + 1)
            elif entry.flags & _MULTIPLE:
                raise CorruptImage(f"{path} is split into several extents")
            else:
                yield path, self._slice(entry.extent * SECTOR, entry.size) if entry.size else b""

    def _entries(self, folder: _DirectoryEntry) -> Iterator[_DirectoryEntry]:
        directory = self._slice(folder.extent * SECTOR, folder.size)
        offset = 0
        while offset < len(directory):
            length = directory[offset]
            if length == 0:
                offset += SECTOR - offset % SECTOR
                continue
            self._left -= 1
            if self._left < 0:
                raise CorruptImage(f"it has more than {_MOST_ENTRIES} entries")
            yield self._entry(directory, offset)
            offset += length

    def _entry(self, holder: bytes, offset: int) -> _DirectoryEntry:
        raw = holder[offset : offset + holder[offset]]
        if len(raw) < _HEAD or len(raw) < _HEAD + raw[32]:
            raise CorruptImage("a directory entry is truncated")
        name = raw[_HEAD : _HEAD + raw[32]]
        extent, size = struct.unpack_from("<I", raw, 2)[0], struct.unpack_from("<I", raw, 10)[0]
        start = _HEAD + raw[32] + (0 if raw[32] % 2 else 1)
        return _DirectoryEntry(name, extent, size, raw[25], raw[start:])

    def _name(self, entry: _DirectoryEntry) -> str:
        if self._skip is not None:
            posix_name = b"".join(self._posix_names(entry.more[self._skip :]))
            if posix_name:
                return self._decode(posix_name, "utf-8")
        name = self._decode(entry.raw, self._coding).partition(";")[0]
        return name if self._coding != "ascii" else name.removesuffix(".").lower()

    def _posix_names(self, area: bytes) -> Iterator[bytes]:
        for signature, body in self._system_entries(area):
            if signature == b"NM":
                yield body[1:]
                if not body[:1] or not body[0] & _CONTINUES:
                    return

    def _system_entries(self, area: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the Rock Ridge entries; continuation areas come after the others."""
        for _ in range(_MOST_VOLUMES):
            further = None
            position = 0
            while position + 4 <= len(area):
                length = area[position + 2]
                if length < 4 or position + length > len(area):
                    break
                signature, body = (
                    area[position : position + 2],
                    area[position + 4 : position + length],
                )
                position += length
                if signature == b"ST":
                    break
                if signature == b"CE" and len(body) >= 24:
                    block, offset, size = (
                        struct.unpack_from("<I", body, at)[0] for at in (0, 8, 16)
                    )
                    further = self._slice(block * SECTOR + offset, size)
                    continue
                yield signature, body
            if further is None:
                return
            area = further
        raise CorruptImage("its Rock Ridge continuation areas form a loop")

    def _decode(self, raw: bytes, coding: str) -> str:
        try:
            name = raw.decode(coding)
        except UnicodeDecodeError:
            raise CorruptImage("a name is not valid text") from None
        if "/" in name or name in ("", ".", "..") or "\x00" in name:
            raise CorruptImage(f"{name!r} is not a valid file name")
        return name

    def _slice(self, start: int, length: int) -> bytes:
        if start + length > len(self._content):
            raise CorruptImage(f"it is truncated at byte {len(self._content)}")
        return self._content[start : start + length]
