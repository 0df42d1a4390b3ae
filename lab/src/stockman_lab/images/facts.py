"""What an image says of itself: a sector with a mark, a checksum, and the facts."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

PLACE = 40 * 512
"""Where the facts begin: behind a partition table, and before an ISO 9660 volume begins."""
ROOM = 8 * 512
_MARK = b"stockman:image:1"
_HEAD = struct.Struct(">16sI32s")
_MOST = ROOM - _HEAD.size


class CorruptImage(ValueError):
    """Bytes that cannot be read as the image that they claim to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """What boots from an image."""

    platform: str
    """What it was built for: `nocloud` or `metal` of Talos, `linux` of anything plain."""
    architecture: str = "amd64"
    version: str = ""
    """`v1.13.9`."""
    schematic: str = ""
    """Of the image factory, 64 digits. Empty: none."""
    virtual_size: int
    """Bytes of the disk. Of an ISO image: of the file, 0 says nothing."""
    secure_boot: bool = False
    more: dict[str, str] = field(default_factory=dict)
    """Anything else that the one who boots wants to know."""


def facts_area(facts: ImageFacts) -> bytes:
    """The bytes that belong at `PLACE`."""
    text = json.dumps(asdict(facts), sort_keys=True, separators=(",", ":")).encode()
    if len(text) > _MOST:
        raise ValueError(f"facts of {len(text)} bytes do not fit into {_MOST}")
    head = _HEAD.pack(_MARK, len(text), hashlib.sha256(text).digest())
    return (head + text).ljust(ROOM, b"\x00")


def facts_in(area: bytes) -> ImageFacts | None:
    """The facts of an area; None: it has none. Damaged ones are refused."""
    if not area.startswith(_MARK):
        return None
    if len(area) < _HEAD.size:
        raise CorruptImage("its facts are cut off")
    _, length, digest = _HEAD.unpack_from(area)
    text = area[_HEAD.size : _HEAD.size + length]
    if length > _MOST or hashlib.sha256(text).digest() != digest:
        raise CorruptImage("its facts do not fit their checksum")
    return _facts(json.loads(text))


def _facts(value: object) -> ImageFacts:
    if not isinstance(value, Mapping):
        raise CorruptImage("its facts are no mapping")
    try:
        return ImageFacts(**value)
    except TypeError:
        raise CorruptImage("its facts are those of another kind of image") from None
