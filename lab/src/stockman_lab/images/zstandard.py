"""Frames of Zstandard with stored and repeated blocks: valid ones, that need no library.

Repeats make zeros small, and images are made of those. Blocks that are really compressed need a
library; which one is asked by whoever unpacks.
"""

from __future__ import annotations

from collections.abc import Iterator

MAGIC = b"\x28\xb5\x2f\xfd"
_BLOCK = 128 << 10
_STORED, _REPEATED, _COMPRESSED = 0, 1, 2
_ONE_SEGMENT, _CHECKSUM = 0x20, 0x04
_ID_SIZES, _CONTENT_SIZES = (0, 1, 2, 4), (0, 2, 4, 8)


class NeedsLibrary(ValueError):
    """A block that is really compressed."""


class DamagedFrame(ValueError):
    """Bytes that are no frame."""


def packed(content: bytes) -> bytes:
    """A frame of a content."""
    blocks = [content[at : at + _BLOCK] for at in range(0, len(content), _BLOCK)] or [b""]
    head = MAGIC + bytes((0xC0 | _ONE_SEGMENT,)) + len(content).to_bytes(8, "little")
    last = len(blocks) - 1
    return head + b"".join(
        _pack_block(block, is_last=number == last) for number, block in enumerate(blocks)
    )


def unpacked(content: bytes) -> Iterator[bytes]:
    """The content of all frames, piece by piece."""
    place = 0
    while place < len(content) or not content:
        if content[place : place + 4] != MAGIC or place + 5 > len(content):
            raise DamagedFrame("this is no frame")
        flags = content[place + 4]
        place += 5 + _rest_of_header(flags)
        is_last = False
        while not is_last:
            if place + 3 > len(content):
                raise DamagedFrame("a frame is cut off")
            head = int.from_bytes(content[place : place + 3], "little")
            is_last, kind, size = bool(head & 1), head >> 1 & 3, head >> 3
            if kind == _COMPRESSED:
                raise NeedsLibrary("a block is compressed")
            held = 1 if kind == _REPEATED else size
            block = content[place + 3 : place + 3 + held]
            if kind not in (_STORED, _REPEATED) or size > _BLOCK or len(block) < held:
                raise DamagedFrame("a block is damaged or cut off")
            place += 3 + held
            yield block * size if kind == _REPEATED else block
        place += 4 if flags & _CHECKSUM else 0


def _pack_block(block: bytes, *, is_last: bool) -> bytes:
    repeated = len(block) > 1 and block.count(block[:1]) == len(block)
    kind = _REPEATED if repeated else _STORED
    head = len(block) << 3 | kind << 1 | is_last
    return head.to_bytes(3, "little") + (block[:1] if repeated else block)


def _rest_of_header(flags: int) -> int:
    one_segment = bool(flags & _ONE_SEGMENT)
    sizes = (1, *_CONTENT_SIZES[1:]) if one_segment else _CONTENT_SIZES
    return (not one_segment) + _ID_SIZES[flags & 3] + sizes[flags >> 6]
