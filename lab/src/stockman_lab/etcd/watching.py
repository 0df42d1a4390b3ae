"""Changes of a keyspace since a revision, for those who watch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stockman.etcd.records import KeyValue, read_key_value, read_revision, read_user_key
from stockman_lab.etcd.errors import WatchCompacted
from stockman_lab.etcd.index import within
from stockman_lab.etcd.keyspace import Keyspace


@dataclass(frozen=True, slots=True)
class Event:
    """One key that was set or deleted."""

    is_deletion: bool
    content: KeyValue
    """Of a deletion, key and revision alone."""
    before: KeyValue | None
    """None: it was not there, or what it was is forgotten."""


def events(keyspace: Keyspace, since: int, key: bytes, range_end: bytes = b"") -> Iterator[Event]:
    """Changes of a key or a range from a revision on, in order; raises `WatchCompacted`."""
    if since < keyspace.compacted:
        raise WatchCompacted(keyspace.compacted)
    begin = keyspace.first_after(since - 1)
    for number in range(begin, len(keyspace.revisions)):
        value = keyspace.values[number]
        changed = read_user_key(value)
        if not within(changed, key, range_end):
            continue
        main, sub, is_deletion = read_revision(keyspace.revisions[number])
        older = keyspace.index.before(changed, main, sub)
        yield Event(
            is_deletion,
            KeyValue(changed, mod_revision=main) if is_deletion else read_key_value(value),
            None if older is None else older.content,
        )
