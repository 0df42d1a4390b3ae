"""Sizes of disks: `32G`, `1.5T`, `528K`, and bytes bare."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal

from stockman_lab.pve.formats.format_error import FormatError

KIB = 1024
MIB = KIB * 1024
GIB = MIB * 1024
TIB = GIB * 1024

_UNITS = {"": 1, "K": KIB, "M": MIB, "G": GIB, "T": TIB}
_LONGEST_NUMBER = 40
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGT]?)(?:(?<=[KMGT])iB)?", re.ASCII)
_RESIZE = re.compile(r"(\+?)(\d+(?:\.\d+)?)([KMGT]?)", re.ASCII)
_CONTENT_SIZE = re.compile(r"(\d+)([MG]?)", re.ASCII)


def parse_size(text: str) -> int:
    """Bytes of a size, rounded down; raises `FormatError`."""
    found = _SIZE.fullmatch(text.removesuffix("\n"))
    if not found:
        raise FormatError(f"value does not look like a valid disk size: {text}")
    return _times(found[1], _UNITS[found[2]])


def format_size(size: int) -> str:
    """A size in the largest unit that it is a whole number of; bytes have none."""
    unit = ""
    for larger in "KMGT":
        if size % 1024:
            break
        size //= 1024
        unit = larger
    return f"{size}{unit}"


def new_disk_bytes(gibibytes: str) -> int:
    """Size of a new disk of a virtual machine, asked for as `STORE:32`: whole KiB, rounded up."""
    if len(gibibytes) > _LONGEST_NUMBER:
        raise FormatError(f"value does not look like a valid disk size: {gibibytes}")
    integral_value = (Decimal(gibibytes) * MIB).to_integral_value(rounding=ROUND_CEILING)
    return int(integral_value) * KIB


def new_mount_bytes(gibibytes: str) -> int:
    """Size of a new volume of a container, asked for as `STORE:8`: whole MiB, rounded down."""
    return _times(gibibytes, 1024) * MIB


def parse_resize(current: int, text: str) -> int:
    """Bytes that a disk shall have: `+10G` on top of what it has, `40G` in all."""
    found = _RESIZE.fullmatch(text)
    if not found:
        raise FormatError("internal error")
    times = _times(found[2], _UNITS[found[3]])
    return current + times if found[1] else times


def content_bytes(text: str) -> int:
    """Bytes of a volume asked for in KiB, or with `M` or `G`."""
    found = _CONTENT_SIZE.fullmatch(text)
    if not found:
        raise FormatError(f"unable to parse size '{text}'")
    return _times(found[1], _UNITS[found[2]] if found[2] else KIB)


def _times(number: str, factor: int) -> int:
    if len(number) > _LONGEST_NUMBER:
        raise FormatError(f"value does not look like a valid disk size: {number}")
    return int(number) * factor if "." not in number else int(Decimal(number) * factor)
