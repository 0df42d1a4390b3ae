"""qcow2 files: how a few pieces of a large disk are written down."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

MAGIC = b"QFI\xfb"
CLUSTER_BITS = 14
CLUSTER = 1 << CLUSTER_BITS
_TABLE_ENTRIES = CLUSTER // 8
_REFERENCES_IN_BLOCK = CLUSTER // 2
"""Two bytes for each."""
_COPIED = 1 << 63
"""Of an entry: its cluster is referred to once."""
_HEADER = struct.Struct(">4sIQIIQIIQQIIQQQQII")
_LONG_HEADER = 112
MOST_SIZE = CLUSTER * _TABLE_ENTRIES * (32 << 20) // 8
"""Bytes of the largest disk: the first table has a largest size."""


def qcow2_file(size: int, pieces: Mapping[int, bytes]) -> bytes:
    """A file that stands for a disk: these pieces by where they lie, and zeros everywhere else."""
    if not 0 < size <= MOST_SIZE:
        raise ValueError(f"a disk of {size} bytes has no place in a file")
    clusters = _clusters(size, pieces)
    first_entries = -(-size // (CLUSTER * _TABLE_ENTRIES))
    first_clusters = max(1, -(-first_entries * 8 // CLUSTER))
    seconds = sorted({number // _TABLE_ENTRIES for number in clusters})
    fixed = 1 + first_clusters + len(seconds) + len(clusters)
    blocks, table_clusters = _bookkeeping(fixed)
    total = fixed + blocks + table_clusters

    blocks_at = (1 + table_clusters) * CLUSTER
    first_at = 1 + table_clusters + blocks
    seconds_at = first_at + first_clusters
    data_at = seconds_at + len(seconds)
    datas = {number: data_at + index for index, number in enumerate(sorted(clusters))}
    header = _HEADER.pack(
        *(MAGIC, 3, 0, 0, CLUSTER_BITS, size, 0, first_entries, first_at * CLUSTER),
        *(CLUSTER, table_clusters, 0, 0, 0, 0, 0, 4, _LONG_HEADER),
    )
    rows = [
        _fill_clusters(header, 1),
        _fill_clusters(
            _numbers(range(blocks_at, blocks_at + blocks * CLUSTER, CLUSTER)), table_clusters
        ),
        _fill_clusters(struct.pack(">H", 1) * total, blocks),
        _fill_clusters(_first_table(seconds, seconds_at, first_entries), first_clusters),
        *(_second_table(second, datas) for second in seconds),
        *(clusters[number] for number in sorted(clusters)),
    ]
    return b"".join(rows)


def _clusters(size: int, pieces: Mapping[int, bytes]) -> dict[int, bytes]:
    """Contents of the clusters that hold something, by their number."""
    bytearrays: dict[int, bytearray] = {}
    for start, piece in pieces.items():
        if start < 0 or start + len(piece) > size:
            raise ValueError(f"a piece at byte {start} lies outside of a disk of {size} bytes")
        done = 0
        while done < len(piece):
            number, inside = divmod(start + done, CLUSTER)
            part = piece[done : done + CLUSTER - inside]
            cluster = bytearrays.setdefault(number, bytearray(CLUSTER))
            cluster[inside : inside + len(part)] = part
            done += len(part)
    return {number: bytes(cluster) for number, cluster in bytearrays.items()}


def _bookkeeping(fixed: int) -> tuple[int, int]:
    """Clusters of reference counts and of the table of those; they count themselves too."""
    blocks = table = 1
    while True:
        needed = -(-(fixed + blocks + table) // _REFERENCES_IN_BLOCK)
        table_needed = -(-needed // _TABLE_ENTRIES)
        if (needed, table_needed) == (blocks, table):
            return blocks, table
        blocks, table = needed, table_needed


def _first_table(seconds: list[int], seconds_at: int, entries: int) -> bytes:
    table = [0] * entries
    for index, number in enumerate(seconds):
        table[number] = (seconds_at + index) * CLUSTER | _COPIED
    return struct.pack(f">{entries}Q", *table)


def _second_table(number: int, places: Mapping[int, int]) -> bytes:
    table = [0] * _TABLE_ENTRIES
    for cluster, place in places.items():
        owner, entry = divmod(cluster, _TABLE_ENTRIES)
        if owner == number:
            table[entry] = place * CLUSTER | _COPIED
    return struct.pack(f">{_TABLE_ENTRIES}Q", *table)


def _numbers(values: Iterable[int]) -> bytes:
    return b"".join(struct.pack(">Q", value) for value in values)


def _fill_clusters(content: bytes, clusters: int) -> bytes:
    return content.ljust(clusters * CLUSTER, b"\x00")
