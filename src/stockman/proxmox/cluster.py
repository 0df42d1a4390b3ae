"""A Proxmox cluster as a whole: version, quorum, and everything that is in it at one glance."""

from __future__ import annotations

from typing import Literal, Protocol

from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.record import record
from stockman.model.version import Version

GuestKind = Literal["qemu", "lxc"]
"""VM or container."""


@record
class ApiVersion:
    """The version of Proxmox VE on the host that answered."""

    version: str
    """`9.2.11`."""
    release: str
    """`9.2`."""

    @property
    def parsed(self) -> Version:
        return Version.parse(self.version)

    @property
    def major(self) -> int:
        return int(self.version.partition(".")[0])


@record
class ClusterMember:
    """A host as the cluster's membership sees it."""

    name: HostName
    online: bool
    address: str = ""
    is_local: bool = False
    """Whether it is the host that answered."""


@record
class ClusterState:
    """Membership and quorum; a host that is in no cluster is its own quorum."""

    name: str
    """Empty: a single host."""
    quorate: bool
    members: tuple[ClusterMember, ...]


@record
class HostSummary:
    """A host in the bulk list; numbers are missing without `Sys.Audit` on it."""

    host: HostName
    status: str
    """`online`, `offline` or `unknown`."""
    cores: int | None = None
    cpu: float | None = None
    """Share of all cores in use, 0 to 1."""
    memory: int | None = None
    """Bytes."""
    memory_used: int | None = None
    """Bytes."""
    uptime: int | None = None
    """Seconds."""


@record
class GuestSummary:
    """A guest in the bulk list, which lags some seconds behind."""

    kind: GuestKind
    vmid: Vmid
    host: HostName
    status: str = "unknown"
    """`running`, `stopped`, or `unknown`, which says nothing about whether it runs."""
    name: str = ""
    """Empty: not known yet."""
    is_template: bool = False
    cores: float | None = None
    memory: int | None = None
    """Bytes."""
    memory_used: int | None = None
    disk: int | None = None
    """Bytes of its first disk."""
    uptime: int | None = None
    pool: str = ""
    lock: str = ""
    """Empty: not locked."""
    tags: tuple[str, ...] = ()
    ha_state: str = ""
    """Empty: not managed."""


@record
class StorageSummary:
    """A storage on one host in the bulk list."""

    storage: Datastore
    host: HostName
    status: str
    """`available` or `unknown`."""
    kind: str = ""
    """`zfspool`, `dir`."""
    shared: bool = False
    content: frozenset[str] = frozenset()
    size: int | None = None
    """Bytes."""
    used: int | None = None
    """Bytes."""


@record
class Resources:
    """Everything in the cluster that the token may see."""

    hosts: tuple[HostSummary, ...]
    guests: tuple[GuestSummary, ...]
    storages: tuple[StorageSummary, ...]


class Cluster(Protocol):
    """The cluster as a whole."""

    async def version(self) -> ApiVersion:
        """The version of the host that answers."""
        ...

    async def cluster_state(self) -> ClusterState:
        """Membership and quorum."""
        ...

    async def resources(self) -> Resources:
        """Hosts, guests and storages in one call; what the token may not see is not there."""
        ...

    async def next_vmid(self) -> Vmid:
        """A number that is free now; nobody keeps it for us."""
        ...

    async def is_vmid_free(self, vmid: Vmid) -> bool:
        """Whether no guest has a number; it tells of guests too that the token may not see."""
        ...
