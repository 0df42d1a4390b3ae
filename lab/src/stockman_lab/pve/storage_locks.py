"""Locks of storages: who allocates or frees a volume keeps others waiting.

A local storage has a lock on each host, a shared one has one for the whole cluster. Nobody waits
longer than ten seconds.
"""

from __future__ import annotations

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.host import Host
from stockman_lab.pve.storage import Storage

PATIENCE = 10.0
LONGEST_WORK = 60.0
"""Seconds after which work under a lock of the cluster is given up."""
_LOCAL, _SHARED = 0.1, 0.25
"""Seconds that an allocation holds a lock."""


class StorageBusy(ApiError):
    """A lock that was not to be had."""


def lock_wait(cluster: Cluster, storage: Storage, host: str) -> float:
    """Seconds until the lock of a storage is free."""
    until = cluster.state.storage_locks.get(_place(storage, host), 0.0)
    return max(until - cluster.now, 0.0)


def take_lock(cluster: Cluster, storage: Storage, host: Host, held: float | None = None) -> float:
    """Queue for the lock of a storage; returns seconds until the work under it is done.

    The lock of a shared storage belongs to the cluster, and is not to be had without quorum.
    """
    if storage.is_shared:
        cluster.require_quorum(f"storage-{storage.id}")
    waited = lock_wait(cluster, storage, host.name)
    if waited > PATIENCE:
        raise StorageBusy(500, _timeout(storage))
    return waited + hold_lock(cluster, storage, host.name, held)


def hold_lock(cluster: Cluster, storage: Storage, host: str, held: float | None = None) -> float:
    """Keep a storage busy after all who wait for it already; returns for how long."""
    seconds = (_SHARED if storage.is_shared else _LOCAL) if held is None else held
    place = _place(storage, host)
    begins = max(cluster.state.storage_locks.get(place, 0.0), cluster.now)
    cluster.state.storage_locks[place] = begins + seconds
    return seconds


def work_timeout(storage: Storage) -> ApiError:
    """What work says that took too long under a lock of the cluster."""
    return ApiError(500, f"'storage-{storage.id}'-locked command timed out - aborting")


def _place(storage: Storage, host: str) -> str:
    return f"{'' if storage.is_shared else host}/{storage.id}"


def _timeout(storage: Storage) -> str:
    if storage.is_shared:
        return f"cfs-lock 'storage-{storage.id}' error: got lock request timeout"
    return f"can't lock file '/var/lock/pve-manager/pve-storage-{storage.id}' - got timeout"
