"""Objects under keys of etcd, with the revision of the keyspace as their version."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stockman.etcd.records import KeyValue
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.etcd.index import NEWEST
from stockman_lab.etcd.keyspace import Keyspace
from stockman_lab.etcd.transactions import Compare, Delete, Put, Relation, Target
from stockman_lab.kube.objects import Object
from stockman_lab.kube.store.bell import Bell
from stockman_lab.kube.store.entries import Entries, Entry, Unreadable, laid_out, stored_value

LARGEST = 3 * (1 << 19)
"""How many bytes etcd takes in one request."""


class Taken(Exception):
    """There is an object under a key already."""


class Changed(Exception):
    """An object is not at the revision at which it was expected."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A part of a list."""

    revision: int
    entries: list[Entry]
    remaining: int = 0
    """How many are behind the last one."""


class Store:
    """Reading and writing through a client of etcd, a new one for every request."""

    def __init__(self, connect: Callable[[], EtcdClient]) -> None:
        self._connect = connect
        self._is_held = False
        self._held: EtcdClient | None = None
        self._entries = Entries()
        self.bell = Bell()
        """Rung at every write, and by whoever changed the keyspace in another way."""
        self.views: dict[type, object] = {}
        """What others read out of it and keep up to date, by kind: made once for all who ask."""

    def connect(self) -> EtcdClient:
        """A client of etcd: of this moment, or the one that is held."""
        if not self._is_held:
            return self._connect()
        if self._held is None:
            self._held = self._connect()
        return self._held

    def hold(self) -> None:
        """Ask one client from now on: nothing around it changes meanwhile."""
        self._is_held = True

    def let_go(self) -> None:
        """Ask a new client each time."""
        self._is_held, self._held = False, None

    @property
    def keyspace(self) -> Keyspace:
        """What a server has in its cache: there without a quorum, too."""
        return self.connect().cluster.keyspace

    @property
    def now(self) -> float:
        return self.connect().now

    def revision(self, *, cached: bool = False) -> int:
        """Of the whole keyspace."""
        if cached:
            return self.keyspace.revision
        return self.connect().range(b"/registry/\0", limit=1).revision

    def get(self, key: bytes, *, cached: bool = False) -> Entry | None:
        """The object under a key; from the cache, without asking etcd."""
        keyspace = self.keyspace if cached else self._live_keyspace()
        version = keyspace.index.newest(key)
        return None if version is None else self._entries.entry(key, version)

    def past(self, key_value: KeyValue) -> Entry:
        """What a record holds, be it the newest or not."""
        return self._entries.past(key_value)

    def list(self, prefix: bytes, *, cached: bool = False) -> Listed:
        """All objects under a prefix, in order of their keys."""
        keyspace = self.keyspace if cached else self._live_keyspace()
        return Listed(keyspace.revision, list(self._there(keyspace, prefix, prefix, NEWEST)))

    def readable(self, prefix: bytes) -> tuple[Entry, ...]:
        """From the cache, all that are objects, where others may have written under the prefix."""
        keys = self.keyspace.index.between(prefix, prefix_end(prefix))
        entries = (self.readable_one(key) for key in keys)
        return tuple(entry for entry in entries if entry is not None)

    def readable_one(self, key: bytes) -> Entry | None:
        """From the cache, the object under a key; None: there is none, or something else."""
        try:
            return self.get(key, cached=True)
        except Unreadable:
            return None

    def list_at(self, prefix: bytes, revision: int, start: bytes = b"") -> Listed:
        """All objects as they were at a revision, from a key on; raises `EtcdError`."""
        keyspace = self._live_keyspace()
        if revision > keyspace.revision:
            raise EtcdError(Reason.FUTURE_REVISION)
        if revision < keyspace.compacted:
            raise EtcdError(Reason.COMPACTED)
        result = self._there(keyspace, start or prefix, prefix, revision)
        return Listed(revision, list(result))

    def create(self, key: bytes, content: Object, lease: int = 0) -> Entry:
        """Put a new object; raises `Taken`."""
        absent = Compare(key, Target.MOD, Relation.EQUAL, 0)
        done = self.connect().transact([absent], [Put(key, _stored_bytes(content), lease)])
        if not done.succeeded:
            raise Taken
        return self._kept(key, done.revision, done.revision, content)

    def update(self, before: Entry, content: Object, laid: Object | None = None) -> Entry:
        """Put an object in place of another; raises `Changed`.

        `laid` is the same with its fields in order. None: nobody needed that before.
        """
        client = self.connect()
        version = client.cluster.keyspace.index.newest(before.key)
        lease = 0 if version is None else version.lease
        same = Compare(before.key, Target.MOD, Relation.EQUAL, before.revision)
        done = client.transact([same], [Put(before.key, _stored_bytes(content), lease)])
        if not done.succeeded:
            raise Changed
        return self._kept(before.key, done.revision, before.created, content, laid)

    def delete(self, before: Entry) -> int:
        """Take an object away; returns the revision. Raises `Changed`."""
        same = Compare(before.key, Target.MOD, Relation.EQUAL, before.revision)
        done = self.connect().transact([same], [Delete(before.key)])
        if not done.succeeded:
            raise Changed
        self._entries.forget(before.key)
        self.bell.ring()
        return done.revision

    def lease(self, ttl: int) -> int:
        """A lease of etcd that lasts so many seconds."""
        client = self.connect()
        number = client.cluster.keyspace.revision + (1 << 40)
        while number in client.cluster.keyspace.leases:
            number += 1
        client.grant(number, ttl)
        return number

    def _live_keyspace(self) -> Keyspace:
        client = self.connect()
        client.range(b"/registry/\0", limit=1)
        return client.cluster.keyspace

    def _there(
        self, keyspace: Keyspace, start: bytes, prefix: bytes, revision: int
    ) -> Iterator[Entry]:
        index = keyspace.index
        entry = self._entries.entry
        for key in index.between(start, prefix_end(prefix)):
            newest = index.newest(key) if revision == NEWEST else index.at(key, revision)
            if newest is not None:
                yield entry(key, newest)

    def _kept(
        self, key: bytes, revision: int, created: int, content: Object, laid: Object | None = None
    ) -> Entry:
        result = content if laid is None else laid
        is_laid = laid is not None and "resourceVersion" in laid["metadata"]
        metadata = {**result["metadata"], "resourceVersion": str(revision)}
        made = {**result, "metadata": metadata}
        entry = Entry(key, revision, created, made if is_laid else laid_out(key, made))
        self._entries.keep(entry)
        self.bell.ring()
        return entry


def _stored_bytes(content: Object) -> bytes:
    """An object as it is stored; raises `EtcdError` where it is too large."""
    value = stored_value(content)
    if len(value) > LARGEST:
        raise EtcdError(Reason.TOO_LARGE)
    return value


def prefix_end(prefix: bytes) -> bytes:
    """The first key behind all that begin with a prefix."""
    return prefix[:-1] + bytes([prefix[-1] + 1])


class StaleStore(Store):
    """Reads from the past; nothing is written through it."""

    def __init__(self, connect: Callable[[], EtcdClient], revision: int) -> None:
        super().__init__(connect)
        self._at = revision

    def revision(self, *, cached: bool = False) -> int:
        """That from which it shows everything."""
        del cached
        return self._at

    def get(self, key: bytes, *, cached: bool = False) -> Entry | None:
        """The object that was under a key then."""
        del cached
        version = self.keyspace.index.at(key, self._at)
        return None if version is None else self._entries.entry(key, version)

    def list(self, prefix: bytes, *, cached: bool = False) -> Listed:
        """All objects that were under a prefix then."""
        del cached
        return Listed(self._at, list(self._there(self.keyspace, prefix, prefix, self._at)))

    def _there(
        self, keyspace: Keyspace, start: bytes, prefix: bytes, revision: int
    ) -> Iterator[Entry]:
        return super()._there(keyspace, start, prefix, min(revision, self._at))
