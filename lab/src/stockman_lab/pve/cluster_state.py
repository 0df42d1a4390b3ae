"""A Proxmox cluster, or a host that stands alone: all that its configuration files hold."""

from __future__ import annotations

from dataclasses import field

from stockman_lab.authority.state import Authority, Certificate
from stockman_lab.core.state import state
from stockman_lab.pve.access.state import AccessState
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.host import Host, Pool
from stockman_lab.pve.storage import Storage, Volume


@state
class Task:
    """One worker, running or ended."""

    upid: str
    node: str
    type: str
    id: str
    """Of what it works on. Empty: nothing in particular."""
    user: str
    """Who asked for it: `user@realm` or `user@realm!token`."""
    pid: int
    pstart: int
    started_at: float
    work: str = ""
    """Name of what it does."""
    arguments: dict[str, object] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    ended_at: float | None = None
    exit_status: str = ""
    hangs: bool = False

    @property
    def is_running(self) -> bool:
        return self.ended_at is None


@state
class Section:
    """An entry of a configuration file: HA, mappings, backup jobs, replication."""

    id: str
    type: str = ""
    options: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)


@state
class ResourcePool:
    """A pool of guests and storages."""

    id: str
    comment: str = ""
    guests: list[int] = field(default_factory=list)
    storages: list[str] = field(default_factory=list)


@state
class Firewall:
    """Options and rules of the firewall of a guest."""

    options: dict[str, str] = field(default_factory=dict)
    rules: list[dict[str, str]] = field(default_factory=list)


@state
class ClusterState:
    """What the hosts of one cluster agree on, and the hosts."""

    name: str
    """Also of a host that stands alone: its region in the world."""
    profile: str
    """`8.4` or `9.1`."""
    access: AccessState
    is_clustered: bool = True
    hosts: dict[str, Host] = field(default_factory=dict)
    pools: dict[str, Pool] = field(default_factory=dict)
    """Space that all hosts share: NFS, Ceph."""
    storages: dict[str, Storage] = field(default_factory=dict)
    removed_storages: dict[str, Storage] = field(default_factory=dict)
    """Storages that nobody configures any more, while their volumes are still on disks."""
    storage_locks: dict[str, float] = field(default_factory=dict)
    """Until when the lock of a storage is held, by `HOST/STORAGE`."""
    volumes: dict[str, Volume] = field(default_factory=dict)
    """By `HOST/STORAGE:NAME`, without a host where it is shared."""
    guests: dict[int, Guest] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    resource_pools: dict[str, ResourcePool] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    """`datacenter.cfg`."""
    ha_resources: dict[str, Section] = field(default_factory=dict)
    ha_groups: dict[str, Section] = field(default_factory=dict)
    ha_rules: dict[str, Section] = field(default_factory=dict)
    mappings: dict[str, dict[str, Section]] = field(default_factory=dict)
    """By kind, `pci`, `usb` or `dir`."""
    backup_jobs: dict[str, Section] = field(default_factory=dict)
    replication: dict[str, Section] = field(default_factory=dict)
    guest_firewalls: dict[int, Firewall] = field(default_factory=dict)
    cfs_version: int = 1
    """Grows with every change of a file that all hosts share."""
    authority: Authority | None = None
    """What signs the certificates of hosts. None: nobody asked for it yet."""
    certificates: dict[str, Certificate] = field(default_factory=dict)
    """By host."""
    ssh: dict[str, str] = field(default_factory=dict)
    """Keys of the SSH door: `HOST.key` private host keys, `authorized_keys`."""
