"""Calls on the cluster as a whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from stockman.model.errors import Conflict
from stockman.model.names import Vmid
from stockman.ports.system import Timekeeper
from stockman.proxmox.calls.base import Calls, SharedCall
from stockman.proxmox.cluster import (
    ApiVersion,
    ClusterMember,
    ClusterState,
    GuestSummary,
    HostSummary,
    Resources,
    StorageSummary,
    TagRules,
)
from stockman.proxmox.rows import boolean, mapping, number, read_record, row_list, text, words
from stockman.proxmox.transport import Transport

_HOST = {"host": "node", "cores": "maxcpu", "memory": "maxmem", "memory_used": "mem"}
_GUEST = {
    "kind": "type",
    "host": "node",
    "is_template": "template",
    "cores": "maxcpu",
    "memory": "maxmem",
    "memory_used": "mem",
    "disk": "maxdisk",
    "ha_state": "hastate",
}
_STORAGE = {"host": "node", "kind": "plugintype", "size": "maxdisk", "used": "disk"}
_MEMBER = {"address": "ip", "is_local": "local"}


class ClusterCalls(Calls):
    """Cluster."""

    def __init__(self, transport: Transport, clock: Timekeeper) -> None:
        super().__init__(transport, clock)
        self._state: SharedCall[ClusterState] = SharedCall()
        self._resources: SharedCall[Resources] = SharedCall()
        self._free: defaultdict[Vmid, SharedCall[bool]] = defaultdict(SharedCall)

    async def version(self) -> ApiVersion:
        """Return the version of the host that answers."""
        return await self._get(("version",), lambda data: read_record(ApiVersion, data))

    async def cluster_state(self) -> ClusterState:
        """Return membership and quorum."""
        return await self._state.run(lambda: self._get(("cluster", "status"), _state))

    async def resources(self) -> Resources:
        """List hosts, guests and storages with one call, as far as the token can see them."""
        return await self._resources.run(lambda: self._get(("cluster", "resources"), _resources))

    async def tag_rules(self) -> TagRules:
        """Return which tags the token may give to guests."""
        return await self._get(("cluster", "options"), _tag_rules)

    async def next_vmid(self) -> Vmid:
        """Return a VMID that is currently free; it is not reserved."""
        return await self._get(("cluster", "nextid"), lambda data: Vmid(number(data)))

    async def is_vmid_free(self, vmid: Vmid) -> bool:
        """Return whether a VMID is unused, also by guests that the token cannot see."""
        return await self._free[vmid].run(lambda: self._is_free(vmid))

    async def _is_free(self, vmid: Vmid) -> bool:
        try:
            await self._get(("cluster", "nextid"), text, {"vmid": vmid})
        except Conflict:
            return False
        return True


def _state(data: object) -> ClusterState:
    rows = row_list(data)
    members = tuple(
        read_record(ClusterMember, row, _MEMBER) for row in rows if row.get("type") == "node"
    )
    for row in rows:
        if row.get("type") == "cluster":
            return ClusterState(
                name=text(row.get("name", "")),
                quorate=boolean(row.get("quorate", 0)),
                members=members,
            )
    return ClusterState(name="", quorate=True, members=members)


def _tag_rules(data: object) -> TagRules:
    row = mapping(data)
    access = mapping(row.get("user-tag-access") or {})
    return TagRules(
        allowed=frozenset(words(row.get("allowed-tags") or [])),
        registered=frozenset(words(row.get("registered-tags") or [])),
        is_free=text(access.get("user-allow", "free")) == "free",
    )


def _resources(data: object) -> Resources:
    rows = row_list(data)
    return Resources(
        hosts=tuple(read_record(HostSummary, row, _HOST) for row in _rows_of_type(rows, "node")),
        guests=tuple(
            read_record(GuestSummary, row, _GUEST) for row in _rows_of_type(rows, "qemu", "lxc")
        ),
        storages=tuple(
            read_record(StorageSummary, row, _STORAGE) for row in _rows_of_type(rows, "storage")
        ),
    )


def _rows_of_type(rows: list[Mapping[str, object]], *kinds: str) -> list[Mapping[str, object]]:
    return [row for row in rows if row.get("type") in kinds]
