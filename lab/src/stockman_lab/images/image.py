"""Reading images: what they are, how large their disk is, and what they say of themselves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from stockman_lab.images.facts import PLACE, ROOM, CorruptImage, ImageFacts, facts_in
from stockman_lab.images.partitions import is_bootable
from stockman_lab.images.qcow2_reader import Header, is_qcow2, read_bytes, read_header

_TABLES = 34 * 512
_ISO_SECTOR = 2048
_ISO_FIRST = 16 * _ISO_SECTOR
_VMDK, _VMDK_CAPACITY = b"KDMV", slice(12, 20)
_EL_TORITO = b"\x00CD001\x01EL TORITO SPECIFICATION"


class Form(Enum):
    """How the bytes of a file stand for a disk."""

    QCOW2 = "qcow2"
    RAW = "raw"
    VMDK = "vmdk"
    ISO = "iso"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """What a file says."""

    form: Form
    virtual_size: int
    facts: ImageFacts | None = None
    """None: the image of somebody else, or nothing at all."""
    is_bootable: bool = False
    """Whether firmware finds something to boot."""
    has_backing_file: bool = False
    has_data_file: bool = False


def read_image(content: bytes) -> Image:
    """What an image is; refuses damaged ones. Anything that is nothing else is a raw disk."""
    if is_qcow2(content):
        return _qcow2(content, read_header(content))
    facts = facts_in(content[PLACE : PLACE + ROOM])
    if content[_ISO_FIRST + 1 : _ISO_FIRST + 6] == b"CD001":
        boots = facts is not None or _EL_TORITO in content[_ISO_FIRST : 2 * _ISO_FIRST]
        return Image(form=Form.ISO, virtual_size=len(content), facts=facts, is_bootable=boots)
    if content.startswith(_VMDK):
        sectors = int.from_bytes(content[_VMDK_CAPACITY], "little")
        return Image(form=Form.VMDK, virtual_size=sectors * 512, is_bootable=True)
    if facts is not None and facts.virtual_size != len(content):
        raise CorruptImage(f"it has {len(content)} bytes instead of {facts.virtual_size}")
    boots = facts is not None or is_bootable(content[:_TABLES])
    return Image(form=Form.RAW, virtual_size=len(content), facts=facts, is_bootable=boots)


def _qcow2(content: bytes, header: Header) -> Image:
    facts, boots = None, not header.has_data_file
    if header.is_readable:
        facts = facts_in(read_bytes(content, header, PLACE, ROOM))
        boots = facts is not None or is_bootable(read_bytes(content, header, 0, _TABLES))
    return Image(
        form=Form.QCOW2,
        virtual_size=header.virtual_size,
        facts=facts,
        is_bootable=boots,
        has_backing_file=header.backing_file != "",
        has_data_file=header.has_data_file,
    )
