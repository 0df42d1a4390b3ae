"""Sizes that storages give: each rounds up to what it can divide its space into."""

from __future__ import annotations

_UNITS = {"zfspool": 1 << 20, "zfs": 1 << 20, "rbd": 1 << 20, "lvm": 4 << 20, "lvmthin": 4 << 20}
_SECTOR = 512


def given_size(storage_type: str, form: str, size: int) -> int:
    """Bytes of a new volume that was asked for with so many."""
    if form == "subvol":
        return size
    unit = _UNITS.get(storage_type, _SECTOR)
    return -(-size // unit) * unit
