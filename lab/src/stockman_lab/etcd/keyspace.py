"""The keyspace of etcd: all keys with their history since the last compaction."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from heapq import heapify

from stockman.etcd.records import KeyValue, Revision, read_revision, read_user_key
from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.etcd.index import NEWEST, Index, Version

FIRST_REVISION = 1


@dataclass
class Lease:
    """Keys that go when nobody renews it."""

    ttl: int
    """Seconds."""
    expires_at: float


@dataclass(frozen=True, slots=True)
class Found:
    """What a range holds."""

    revision: int
    """Of the whole keyspace, now."""
    items: list[KeyValue]
    count: int
    """How many there are, also where fewer were asked for."""

    @property
    def more(self) -> bool:
        return self.count > len(self.items)


@dataclass
class Keyspace:
    """Records as they stand in the database, by revision; everything else is computed from them."""

    revision: int = FIRST_REVISION
    compacted: int = 0
    """Up to which revision history was forgotten."""
    revisions: list[bytes] = field(default_factory=list)
    values: list[bytes] = field(default_factory=list)
    leases: dict[int, Lease] = field(default_factory=dict)
    _index: Index | None = field(
        default=None, init=False, repr=False, compare=False, metadata={"saved": False}
    )
    _lease_ends: list[tuple[float, int]] | None = field(
        default=None, init=False, repr=False, compare=False, metadata={"saved": False}
    )

    @property
    def lease_ends(self) -> list[tuple[float, int]]:
        """A heap of moments and leases: none ends before its moment, which may be an old one."""
        if self._lease_ends is None:
            self._lease_ends = [(lease.expires_at, key) for key, lease in self.leases.items()]
            heapify(self._lease_ends)
        return self._lease_ends

    @property
    def index(self) -> Index:
        """Where versions are; made when it is first asked for."""
        if self._index is None:
            self._index = Index(self.revisions, self.values)
        return self._index

    @property
    def size(self) -> int:
        """Bytes of all records, history included."""
        return self.index.size

    def replace(self, revisions: list[bytes], values: list[bytes]) -> None:
        """Take other records."""
        touched = self.index.touched
        self.revisions, self.values = revisions, values
        self._index = Index(revisions, values)
        self._index.touched = {**self._index.touched, **touched}

    def get(self, key: bytes) -> KeyValue | None:
        """A key as it is now."""
        newest = self.index.newest(key)
        return None if newest is None else newest.content

    def range(
        self, key: bytes, range_end: bytes = b"", *, limit: int = 0, revision: int = 0
    ) -> Found:
        """Keys from one up to but not including another, now or at a revision.

        An empty end means that key alone, an end of one zero byte everything from the key on.
        """
        _need_key(key)
        if revision > self.revision:
            raise EtcdError(Reason.FUTURE_REVISION)
        if 0 < revision < self.compacted:
            raise EtcdError(Reason.COMPACTED)
        names = list(self.index.there(key, range_end, revision or NEWEST))
        shown = names[:limit] if limit > 0 else names
        return Found(self.revision, [one.content for one in shown], len(names))

    def put(self, key: bytes, value: bytes, lease: int = 0) -> int:
        """Set a key; returns the new revision."""
        change = WriteTransaction(self)
        change.put(key, value, lease)
        return change.commit()

    def delete(self, key: bytes, range_end: bytes = b"") -> int:
        """Delete a key or a range; returns how many there were. Nothing there: nothing happens."""
        change = WriteTransaction(self)
        count = change.delete(key, range_end)
        change.commit()
        return count

    def first_after(self, main: int) -> int:
        """The place of the first record behind a revision."""
        return bisect_left(self.revisions, Revision(main + 1).key)


class WriteTransaction:
    """A transaction: all that it writes has one revision."""

    def __init__(self, keyspace: Keyspace) -> None:
        self._keyspace = keyspace
        self._main = keyspace.revision + 1
        self._sub = 0

    @property
    def revision(self) -> int:
        """The one that it has, or that of the keyspace where it wrote nothing."""
        return self._main if self._sub else self._keyspace.revision

    def put(self, key: bytes, value: bytes, lease: int = 0) -> None:
        """Set a key."""
        _need_key(key)
        if lease and lease not in self._keyspace.leases:
            raise EtcdError(Reason.LEASE_NOT_FOUND)
        older = self._keyspace.index.newest(key)
        created = self._main if older is None else older.create_revision
        version = 1 if older is None else older.version + 1
        key_value = KeyValue(key, value, created, self._main, version, lease)
        self._record(
            key, Version(self._main, self._sub, False, created, version, lease, key_value.encoded)
        )

    def delete(self, key: bytes, range_end: bytes = b"") -> int:
        """Delete a key or a range; returns how many there were."""
        _need_key(key)
        index = self._keyspace.index
        gone = [
            content
            for content in index.between(key, range_end)
            if index.newest(content) is not None
        ]
        for one in gone:
            buried = KeyValue(one).encoded
            self._record(one, Version(self._main, self._sub, True, 0, 0, 0, buried))
        return len(gone)

    def commit(self) -> int:
        """Be done; returns the revision of the keyspace."""
        self._keyspace.revision = self.revision
        return self._keyspace.revision

    def _record(self, key: bytes, version: Version) -> None:
        revision = Revision(self._main, self._sub, version.is_tombstone)
        self._keyspace.index.add(key, version)
        self._keyspace.revisions.append(revision.key)
        self._keyspace.values.append(version.data)
        self._sub += 1


def _need_key(key: bytes) -> None:
    if not key:
        raise EtcdError(Reason.EMPTY_KEY)


def compact(keyspace: Keyspace, revision: int) -> None:
    """Keep of each key the newest record up to a revision, unless that is a deletion before it."""
    if revision <= keyspace.compacted:
        raise EtcdError(Reason.COMPACTED)
    if revision > keyspace.revision:
        raise EtcdError(Reason.FUTURE_REVISION)
    end = keyspace.first_after(revision)
    newest = {read_user_key(keyspace.values[number]): number for number in range(end)}
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
