"""What a client of a cluster can do: read and write where there is a quorum, and room."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeAlias

from stockman_lab.etcd import leases
from stockman_lab.etcd.cluster import EtcdCluster
from stockman_lab.etcd.keyspace import Found, Keyspace, Lease, compact
from stockman_lab.etcd.quorum import agreed, need_quorum
from stockman_lab.etcd.space import grow, need_no_corruption, need_room
from stockman_lab.etcd.transactions import Compare, Done, Operation, Put, Range, transact
from stockman_lab.etcd.watching import Event, events

_OVERHEAD = 512
"""Bytes that etcd reckons with for every put beside key and value."""


Alive: TypeAlias = Collection[str] | Callable[[], Collection[str]]


class EtcdClient:
    """A connection at one moment: who is alive now, and what time it is.

    Who is alive may be a function, which is asked once, and not before it matters.
    """

    def __init__(self, cluster: EtcdCluster, alive: Alive, now: float) -> None:
        self.cluster = cluster
        self._alive = alive
        self.now = now

    @property
    def alive(self) -> Collection[str]:
        """Ids of members whose etcd runs and is reached."""
        if callable(self._alive):
            self._alive = self._alive()
        return self._alive

    def range(
        self, key: bytes, range_end: bytes = b"", *, limit: int = 0, revision: int = 0
    ) -> Found:
        """Keys of a range, as `Keyspace.range`; a linearizable read."""
        return self._read().range(key, range_end, limit=limit, revision=revision)

    def put(self, key: bytes, value: bytes, lease: int = 0) -> int:
        """Set a key; returns the new revision."""
        keyspace = self._write(len(key) + len(value) + _OVERHEAD)
        revision = keyspace.put(key, value, lease)
        self._record_agreement()
        return revision

    def delete(self, key: bytes, range_end: bytes = b"") -> int:
        """Delete a key or a range; returns how many there were. Works without room, too."""
        count = self._change().delete(key, range_end)
        self._record_agreement()
        return count

    def transact(
        self,
        compares: Sequence[Compare],
        success: Sequence[Operation],
        failure: Sequence[Operation] = (),
    ) -> Done:
        """Do one list of things if all conditions hold, else the other."""
        puts = [one for one in (*success, *failure) if isinstance(one, Put)]
        room = sum(len(put.key) + len(put.value) + _OVERHEAD for put in puts)
        if all(isinstance(one, Range) for one in (*success, *failure)):
            return transact(self._read(), compares, success, failure)
        keyspace = self._write(room) if puts else self._change()
        done = transact(keyspace, compares, success, failure)
        self._record_agreement()
        return done

    def events(self, since: int, key: bytes, range_end: bytes = b"") -> Iterator[Event]:
        """Changes from a revision on; raises `WatchCompacted`."""
        return events(self._read(), since, key, range_end)

    def grant(self, lease: int, ttl: int) -> Lease:
        """A new lease."""
        grant = leases.grant(self._write(_OVERHEAD), lease, ttl, self.now)
        self._record_agreement()
        return grant

    def renew(self, lease: int) -> Lease:
        """Let a lease begin anew."""
        return leases.renew(self._read(), lease, self.now)

    def revoke(self, lease: int) -> None:
        """End a lease; its keys go."""
        leases.revoke(self._change(), lease)
        self._record_agreement()

    def compact(self, revision: int) -> None:
        """Forget history up to a revision. Files stay as large as they are."""
        compact(self._change(), revision)
        self._record_agreement()

    def _read(self) -> Keyspace:
        need_quorum(self.cluster, self.alive)
        keyspace = self.cluster.keyspace
        if leases.expire(keyspace, self.now):
            self._record_agreement()
        return keyspace

    def _change(self) -> Keyspace:
        keyspace = self._read()
        need_no_corruption(self.cluster)
        return keyspace

    def _write(self, more: int) -> Keyspace:
        keyspace = self._change()
        need_room(self.cluster, self.alive, more)
        return keyspace

    def _record_agreement(self) -> None:
        agreed(self.cluster, self.alive)
        grow(self.cluster, self.alive)
