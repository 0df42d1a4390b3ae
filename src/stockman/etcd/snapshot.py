"""Reads and writes snapshots of etcd: a database followed by its SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from stockman.etcd.bbolt.reader import BoltReader, Content
from stockman.etcd.bbolt.writer import Entries, database_pieces, database_size
from stockman.etcd.buckets import KEY, DatabaseMetadata, read_metadata
from stockman.etcd.errors import MissingChecksum, WrongChecksum
from stockman.etcd.records import Record, read_record, read_revision

CHECKSUM_SIZE = 32
_BLOCK = 512
_READ = 1 << 20


@dataclass(slots=True)
class Snapshot:
    """The content of a database of etcd: stored records and everything besides them."""

    revisions: Sequence[bytes] = ()
    """Keys of the bucket `key`, ascending."""
    values: Sequence[bytes] = ()
    """The stored value of each."""
    beside: DatabaseMetadata = field(default_factory=DatabaseMetadata)

    @property
    def revision(self) -> int:
        """The latest revision."""
        last = read_revision(self.revisions[-1]).main if self.revisions else 0
        beside = self.beside
        return max(last, beside.scheduled_compaction, beside.finished_compaction)

    def records(self) -> Iterator[Record]:
        """Return all records by revision; raises `BrokenDatabase`."""
        return map(read_record, self.revisions, self.values)

    def buckets(self) -> dict[bytes, Entries]:
        """Return the ten buckets."""
        entries = {name: Entries.of(content) for name, content in self.beside.buckets().items()}
        return entries | {KEY: Entries(self.revisions, self.values)}


def snapshot_pieces(snapshot: Snapshot) -> Iterator[bytes]:
    """Return the file of a snapshot in pieces, in order."""
    checksum = hashlib.sha256()
    for piece in database_pieces(snapshot.buckets()):
        checksum.update(piece)
        yield piece
    yield checksum.digest()


def snapshot_size(snapshot: Snapshot) -> int:
    """Return the size of the file of a snapshot in bytes."""
    return database_size(snapshot.buckets()) + CHECKSUM_SIZE


def has_checksum(size: int) -> bool:
    """Return whether a file of this size ends with a checksum."""
    return size % _BLOCK == CHECKSUM_SIZE


def read_snapshot(content: Content, *, checked: bool = True) -> Snapshot:
    """Parse a file; `checked`: its checksum must exist and match.

    Unchecked, copies of the file that etcd works on are read too. Raises `BrokenDatabase`.
    """
    if checked:
        verify_checksum(content)
    revisions: list[bytes] = []
    values: list[bytes] = []
    metadata: dict[bytes, dict[bytes, bytes]] = {}
    for name, pairs in open_database(content).buckets():
        if name != KEY:
            metadata[name] = dict(pairs)
            continue
        for key, value in pairs:
            revisions.append(key)
            values.append(value)
    return Snapshot(revisions, values, read_metadata(metadata))


def open_database(content: Content) -> BoltReader:
    """Return the database of a file, with or without checksum; raises `BrokenDatabase`."""
    return BoltReader(content, len(content) - (CHECKSUM_SIZE if has_checksum(len(content)) else 0))


def verify_checksum(content: Content) -> None:
    """Raise `MissingChecksum` or `WrongChecksum` unless a file ends with its checksum."""
    if not has_checksum(len(content)):
        raise MissingChecksum("no check sum follows the database")
    end = len(content) - CHECKSUM_SIZE
    checksum = hashlib.sha256()
    for begin in range(0, end, _READ):
        checksum.update(content[begin : min(begin + _READ, end)])
    if checksum.digest() != content[end:]:
        raise WrongChecksum(content[end:], checksum.digest())
