"""The status of a snapshot, as printed by `etcdutl snapshot status`."""

from __future__ import annotations

from typing import NamedTuple

from stockman.etcd.bbolt.reader import Content
from stockman.etcd.buckets import KEY, META
from stockman.etcd.crc32c import Crc32c
from stockman.etcd.errors import BrokenSnapshot
from stockman.etcd.records import read_revision, read_user_key
from stockman.etcd.snapshot import open_database


class SnapshotStatus(NamedTuple):
    """The summary of a database, as in etcd 3.6 and 3.7."""

    hash: int
    """CRC-32C of the content of all buckets, independent of pages."""
    revision: int
    total_keys: int
    """Number of existing keys."""
    total_size: int
    version: str
    """Storage version, such as `3.6.0`. Empty: written by etcd 3.5."""


def snapshot_status(content: Content) -> SnapshotStatus:
    """Summarize a file with or without checksum, which is not verified.

    Raises `BrokenDatabase`; whatever passes, the real program reads too.
    """
    bolt = open_database(content)
    total = Crc32c()
    update = total.update
    revision, version, keys = 0, b"", set[bytes]()
    has_meta = False
    for name, pairs in bolt.buckets():
        update(name)
        has_meta = has_meta or name == META
        for key, value in pairs:
            update(key)
            update(value)
            if name == KEY:
                record = read_revision(key)
                revision = record.main
                change = keys.discard if record.is_tombstone else keys.add
                change(read_user_key(value))
            elif name == META and key == b"storageVersion":
                version = value
    if not has_meta:
        raise BrokenSnapshot("it has no bucket `meta`: no etcd wrote it")
    return SnapshotStatus(
        total.value, revision, len(keys), bolt.size, version.decode("ascii", "replace")
    )
