"""A Proxmox cluster: version, quorum, and the bulk list of its resources."""

from __future__ import annotations

from typing import Literal

from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.record import record
from stockman.model.version import Version

HALTED = ("internal-error", "io-error")
"""States of QEMU after an error of the processor or of a disk."""
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
    """A host in the cluster membership."""

    name: HostName
    online: bool
    address: str = ""
    is_local: bool = False
    """Whether this is the host that answered."""


@record
class ClusterState:
    """Membership and quorum; a host without a cluster is always quorate."""

    name: str
    """Empty: a single host without a cluster."""
    quorate: bool
    members: tuple[ClusterMember, ...]


@record
class TagRules:
    """Which tags the token may give to guests."""

    allowed: frozenset[str] = frozenset()
    registered: frozenset[str] = frozenset()
    """Tags that need `Sys.Modify` on `/`."""
    is_free: bool = True
    """Whether all tags are allowed that are not registered."""

    def refuses(self, tag: str) -> bool:
        """Return whether Proxmox VE refuses to give a tag to a guest."""
        return tag not in self.allowed and (tag in self.registered or not self.is_free)


@record
class HostSummary:
    """A host in the bulk list; the numbers are None without the privilege `Sys.Audit`."""

    host: HostName
    status: str
    """`online`, `offline` or `unknown`."""
    cores: int | None = None
    cpu: float | None = None
    """Share of all cores that is in use, 0 to 1."""
    memory: int | None = None
    """Bytes."""
    memory_used: int | None = None
    """Bytes."""
    uptime: int | None = None
    """Seconds."""


@record
class GuestSummary:
    """A guest in the bulk list, which is some seconds old."""

    kind: GuestKind
    vmid: Vmid
    host: HostName
    status: str = "unknown"
    """`running`, `stopped` or `unknown`; `unknown` does not mean stopped."""
    qmp_status: str = ""
    """State of QEMU in a running VM: `running`, `paused`, `io-error`. Empty: it was not asked."""
    name: str = ""
    """Empty: not yet known."""
    is_template: bool = False
    cores: float | None = None
    memory: int | None = None
    """Bytes."""
    memory_used: int | None = None
    disk: int | None = None
    """Size of the first disk in bytes."""
    uptime: int | None = None
    pool: str = ""
    lock: str = ""
    """Empty: not locked."""
    tags: tuple[str, ...] = ()
    ha_state: str = ""
    """Empty: not managed by HA."""

    @property
    def is_halted(self) -> bool:
        """Whether QEMU stopped a running VM after an error, so that nothing runs in it."""
        return self.status == "running" and self.qmp_status in HALTED


@record
class StorageSummary:
    """A storage on one host, in the bulk list."""

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
    free: int | None = None
    """Bytes that the host says are available. None: it was not asked."""

    @property
    def room(self) -> int | None:
        """Bytes for new disks. None: unknown."""
        if self.free is not None:
            return self.free
        if self.size is None or self.used is None:
            return None
        return max(self.size - self.used, 0)


@record
class Resources:
    """All resources of the cluster that the token can see."""

    hosts: tuple[HostSummary, ...]
    guests: tuple[GuestSummary, ...]
    storages: tuple[StorageSummary, ...]
