"""Files that are cut, damaged or made to hurt."""

from __future__ import annotations

from stockman.etcd.bbolt.pages import HEADER, LEAF, PAGE_SIZE, Meta, meta_page
from stockman.etcd.bbolt.writer import Entries, database_pieces


def file_of(**buckets: dict[bytes, bytes]) -> bytes:
    """A whole file of such buckets."""
    named = {name.encode(): Entries.of(content) for name, content in buckets.items()}
    return b"".join(database_pieces(named))


def many(count: int, size: int) -> dict[bytes, bytes]:
    """So many entries with values of a size."""
    return {b"%08d" % number: bytes([number % 256]) * size for number in range(count)}


def page(number: int, content: bytes, *, count: int, kind: int = LEAF, overflow: int = 0) -> bytes:
    """A page of one's own making."""
    whole = HEADER.pack(number, kind, count, overflow) + content
    return whole.ljust((overflow + 1) * PAGE_SIZE, b"\0")


def file_around(*pages: bytes, root: int = 2) -> bytes:
    """A file of such pages behind two good descriptions."""
    body = b"".join(pages)
    end = 2 + len(body) // PAGE_SIZE
    return b"".join(meta_page(n, Meta(PAGE_SIZE, root, end, 2 - n)) for n in range(2)) + body
