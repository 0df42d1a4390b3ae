"""VMs, and containers where the calls are the same: identity, configuration and power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from uuid import UUID

from stockman.model.names import HostName, Vmid
from stockman.model.proxmox_values import Smbios
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.proxmox.cluster import HALTED, GuestKind

Setting = str | int | float | bool | Secret
"""A configuration value of a guest, as sent to the server."""


@record
class GuestRef:
    """Host, VMID and kind of a guest: the address of its API calls."""

    host: HostName
    vmid: Vmid
    kind: GuestKind = "qemu"


@record
class VmConfig:
    """The configuration of a guest."""

    digest: str
    """Changes with every change of the configuration."""
    values: dict[str, str] = field(default_factory=dict)
    """Values as text in the syntax of the server; numbers and booleans as `4`, `1`, `0`."""
    waiting: dict[str, str | None] = field(default_factory=dict)
    """Keys with pending changes, if they were requested, with their current values.
    None: the key is currently not set."""

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def get(self, key: str, default: str = "") -> str:
        return self.values.get(key, default)

    @property
    def name(self) -> str:
        return self.values.get("name") or self.values.get("hostname", "")

    @property
    def uuid(self) -> UUID | None:
        """The SMBIOS UUID. None: missing or invalid."""
        try:
            return Smbios.parse(self.values.get("smbios1", "")).uuid
        except ValueError:
            return None


@record
class PendingKey:
    """A configuration key with its current and its pending value."""

    key: str
    value: str | None = None
    """None: currently not set."""
    pending: str | None = None
    """None: no pending change."""
    is_deleted: bool = False


@record
class VmStatus:
    """The runtime status of a guest."""

    status: str
    """`running` or `stopped`."""
    name: str = ""
    qmp_status: str = ""
    """For a VM: `running`, `paused`, `prelaunch`."""
    lock: str = ""
    uptime: int = 0
    cores: float = 0
    memory: int = 0
    """Bytes."""
    is_template: bool = False
    ha_managed: bool = False
    has_agent: bool = False
    """Whether the configuration has a guest agent device."""
    pid: int | None = None
    """None: the guest is not running."""

    @property
    def is_halted(self) -> bool:
        """Whether QEMU stopped a running VM after an error, so that nothing runs in it."""
        return self.qmp_status in HALTED


@record
class VmUpdate:
    """An update of the configuration of a guest."""

    values: Mapping[str, Setting] = field(default_factory=dict)
    delete: tuple[str, ...] = ()
    revert: tuple[str, ...] = ()
    """Keys whose pending change is discarded."""
    digest: str | None = None
    """Raises `Conflict` if the configuration has another digest. None: not checked."""


@record
class MigrationRequest:
    """Parameters of a migration to another host."""

    target: HostName
    online: bool = False
    """Whether the VM keeps running; not possible for containers."""
    restart: bool = False
    """Whether a running container is stopped here and started on the target."""
    with_local_disks: bool = False
    target_storage: str | None = None
    """None: storages with the same names."""


@record
class MigrationCheck:
    """Whether a VM can be migrated, and where."""

    running: bool
    allowed: tuple[str, ...] = ()
    """Hosts that the VM can be migrated to."""
    refused: dict[str, str] = field(default_factory=dict)
    """Hosts that the VM cannot be migrated to, with the reason."""
    local_disks: tuple[str, ...] = ()
    local_resources: tuple[str, ...] = ()
    """Keys with local devices, which prevent a migration of the running VM."""
    mapped: tuple[str, ...] = ()
    """Keys whose devices come from a mapping: they allow a migration of the stopped VM."""


@record
class AgentAddress:
    """An IP address reported by the guest agent."""

    address: str
    prefix: int
    kind: str
    """`ipv4` or `ipv6`."""


@record
class AgentInterface:
    """A network interface reported by the guest agent."""

    name: str
    mac: str = ""
    addresses: tuple[AgentAddress, ...] = ()
