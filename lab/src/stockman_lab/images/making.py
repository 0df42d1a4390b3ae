"""Makes images that say what they are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from stockman.talos.nocloud.iso_format import SECTOR, nocloud_image
from stockman_lab.images.facts import PLACE, ImageFacts, facts_area
from stockman_lab.images.image import Form
from stockman_lab.images.partitions import boot_tables
from stockman_lab.images.qcow2 import qcow2_file

MOST_RAW = 64 << 20
"""A raw image is as large as its disk, and every byte of it is kept."""
_SYSTEM_AREA = 16 * SECTOR
_LABEL = slice(_SYSTEM_AREA + 40, _SYSTEM_AREA + 72)
_JOLIET_LABEL = slice(_SYSTEM_AREA + SECTOR + 40, _SYSTEM_AREA + SECTOR + 72)


def disk_image(facts: ImageFacts, form: Form) -> bytes:
    """A disk with a partition table and facts, the same bytes for the same facts."""
    area = facts_area(facts)
    pieces = boot_tables(facts.virtual_size, area) | {PLACE: area}
    if form is Form.QCOW2:
        return qcow2_file(facts.virtual_size, pieces)
    if form is not Form.RAW:
        raise ValueError(f"disks are not made as {form.value}")
    if facts.virtual_size > MOST_RAW:
        raise ValueError(f"a raw image of {facts.virtual_size} bytes is more than {MOST_RAW}")
    return _raw(facts.virtual_size, pieces)


def iso_image(facts: ImageFacts, moment: datetime) -> bytes:
    """A bootable ISO image: its facts lie where a hybrid image has its partition table."""
    volume = bytearray(nocloud_image({}, moment))
    label = f"{facts.platform}_{facts.version}".upper().replace(".", "_")
    volume[_LABEL] = label.encode("ascii").ljust(32, b" ")[:32]
    volume[_JOLIET_LABEL] = (label.encode("utf-16-be") + b"\x00 " * 16)[:32]
    return _raw(_SYSTEM_AREA, {PLACE: facts_area(facts)}) + bytes(volume[_SYSTEM_AREA:])


def _raw(size: int, pieces: Mapping[int, bytes]) -> bytes:
    disk = bytearray(size)
    for start, piece in pieces.items():
        disk[start : start + len(piece)] = piece
    return bytes(disk)
