"""Which pools guests and storages are in, as permissions ask for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from stockman_lab.pve.cluster_state import ClusterState


class ClusterPools:
    """The pools of a cluster."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state

    @property
    def version(self) -> int:
        """Moves with every change of a file that all hosts share."""
        return self._state.cfs_version

    def pools_of(self, path: str) -> Collection[str]:
        """The pools that hold what a path names."""
        kind, _, name = path.removeprefix("/").partition("/")
        pools = self._state.resource_pools.values()
        if kind == "vms":
            return [pool.id for pool in pools if name.isdigit() and int(name) in pool.guests]
        if kind == "storage":
            return [pool.id for pool in pools if name in pool.storages]
        return ()

    def member_paths(self) -> Iterable[str]:
        """The paths of everything that is in a pool."""
        for pool in self._state.resource_pools.values():
            yield from (f"/vms/{vmid}" for vmid in pool.guests)
            yield from (f"/storage/{storage}" for storage in pool.storages)
