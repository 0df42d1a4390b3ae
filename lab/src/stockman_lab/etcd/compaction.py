"""Compaction: history up to a revision is forgotten."""

from __future__ import annotations

from stockman.etcd.records import read_revision, read_user_key
from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.etcd.keyspace import Keyspace


def compact(keyspace: Keyspace, revision: int) -> None:
    """Keep of each key the newest record up to a revision, unless that is a deletion before it."""
    if revision <= keyspace.compacted:
        raise EtcdError(Reason.COMPACTED)
    if revision > keyspace.revision:
        raise EtcdError(Reason.FUTURE_REVISION)
    end = keyspace.first_after(revision)
    newest = {read_user_key(keyspace.values[place]): place for place in range(end)}
    kept = [
        place for place in sorted(newest.values()) if _stays(keyspace.revisions[place], revision)
    ]
    keyspace.compacted = revision
    keyspace.replace(
        [keyspace.revisions[place] for place in kept] + keyspace.revisions[end:],
        [keyspace.values[place] for place in kept] + keyspace.values[end:],
    )


def _stays(key: bytes, revision: int) -> bool:
    found = read_revision(key)
    return not found.is_tombstone or found.main == revision
