"""Partition tables: one that firmware boots from, and whether another is one of those."""

from __future__ import annotations

import hashlib
import struct
import zlib
from uuid import UUID

SECTOR = 512
LEAST_SIZE = 2 << 20
"""Bytes that a disk with an EFI partition has at least."""
_ENTRIES, _ENTRY = 128, 128
_TABLE_SECTORS = _ENTRIES * _ENTRY // SECTOR
_FIRST_USABLE = 2 + _TABLE_SECTORS
_ALIGNED = 2048
_EFI_SECTORS = 200 << 11
_SIGNATURE = b"EFI PART"
_BOOT_SIGNATURE = b"\x55\xaa"
_EFI_SYSTEM = UUID("c12a7328-f81f-11d2-ba4b-00a0c93ec93b")
_BIOS_BOOT = UUID("21686148-6449-6e6f-744e-656564454649")
_LINUX = UUID("0fc63daf-8483-4772-8e79-3d69d8477de4")
_PROTECTIVE = 0xEE
_ACTIVE = 0x80
_HEADER = struct.Struct("<8sIIIIQQQQ16sQIII")
_BOOT_CODE = b"\xfa\xf4\xeb\xfd"
"""Stop, and stay stopped: there is code, and it does no harm."""


def boot_tables(size: int, name: bytes) -> dict[int, bytes]:
    """Both copies of a partition table with an EFI partition, by where they lie.

    Identifiers are made of the name, so that the same image is made of the same name.
    """
    if size < LEAST_SIZE or size % SECTOR:
        raise ValueError(f"a disk of {size} bytes cannot hold a partition table")
    last = size // SECTOR - 1
    entries = _entries(last, name)
    disk = _uuid(name, "disk")
    backup = last - _TABLE_SECTORS
    return {
        0: _protective(last) + _header(1, last, 2, disk, entries) + entries,
        backup * SECTOR: entries + _header(last, 1, backup, disk, entries),
    }


def is_bootable(start: bytes) -> bool:
    """Whether firmware finds something to boot; `start` is the first 34 sectors of a disk."""
    if start[510:512] != _BOOT_SIGNATURE:
        return False
    if start[SECTOR : SECTOR + 8] == _SIGNATURE:
        table = start[2 * SECTOR :]
        kinds = {table[at : at + 16] for at in range(0, len(table), _ENTRY)}
        if kinds & {_EFI_SYSTEM.bytes_le, _BIOS_BOOT.bytes_le}:
            return True
    active = any(start[at] == _ACTIVE for at in range(446, 510, 16))
    return active or start[:440].strip(b"\x00") != b""


def _entries(last: int, name: bytes) -> bytes:
    end = last - _TABLE_SECTORS - 1
    efi_end = min(_ALIGNED + _EFI_SECTORS - 1, end)
    table = _entry(_EFI_SYSTEM, name, (_ALIGNED, efi_end), "EFI")
    if end - efi_end > _ALIGNED:
        table += _entry(_LINUX, name, (efi_end + 1, end // _ALIGNED * _ALIGNED - 1), "STATE")
    return table.ljust(_ENTRIES * _ENTRY, b"\x00")


def _entry(kind: UUID, name: bytes, sectors: tuple[int, int], label: str) -> bytes:
    text = label.encode("utf-16-le").ljust(72, b"\x00")
    return kind.bytes_le + _uuid(name, label).bytes_le + struct.pack("<QQQ", *sectors, 0) + text


def _header(number: int, other: int, table: int, disk: UUID, entries: bytes) -> bytes:
    last = max(number, other) - _TABLE_SECTORS - 1

    def packed(checksum: int) -> bytes:
        return _HEADER.pack(
            *(_SIGNATURE, 0x00010000, _HEADER.size, checksum, 0),
            *(number, other, _FIRST_USABLE, last, disk.bytes_le),
            *(table, _ENTRIES, _ENTRY, zlib.crc32(entries)),
        )

    return packed(zlib.crc32(packed(0))).ljust(SECTOR, b"\x00")


def _protective(last: int) -> bytes:
    entry = struct.pack(
        "<B3sB3sII", 0, b"\x00\x02\x00", _PROTECTIVE, b"\xff" * 3, 1, min(last, 0xFFFFFFFF)
    )
    return _BOOT_CODE.ljust(446, b"\x00") + entry.ljust(64, b"\x00") + _BOOT_SIGNATURE


def _uuid(name: bytes, text: str) -> UUID:
    return UUID(bytes=hashlib.sha256(text.encode() + b":" + name).digest()[:16], version=4)
