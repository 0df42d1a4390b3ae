"""A store that shows what was there at an earlier revision, as an old cache does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.keyspace import Keyspace
from stockman_lab.kube.store.entries import Entry
from stockman_lab.kube.store.store import Listed, Store


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
