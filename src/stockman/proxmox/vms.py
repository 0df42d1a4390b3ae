"""VMs, and containers where calls are the same: their identity, configuration and power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, Protocol
from uuid import UUID

from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.proxmox_values import Smbios
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.proxmox.cluster import GuestKind
from stockman.proxmox.tasks import TaskRef

Setting = str | int | float | bool | Secret
"""A value of a guest's key, as it is sent."""


@record
class GuestRef:
    """Where a guest is: all that a call needs."""

    host: HostName
    vmid: Vmid
    kind: GuestKind = "qemu"


@record
class Vm(GuestRef):
    """A VM with its identity: number, name and SMBIOS UUID together."""

    name: str
    uuid: UUID | None
    """None: it has none, as old VMs may."""
    status: str = "unknown"
    lock: str = ""
    """Empty: not locked."""
    is_template: bool = False
    tags: tuple[str, ...] = ()


@record
class VmConfig:
    """The configuration of a guest, key by key."""

    digest: str
    """Changes with every change."""
    values: dict[str, str] = field(default_factory=dict)
    """As text, in the words of the server; numbers and yes or no as `4`, `1`, `0`."""
    waiting: dict[str, str | None] = field(default_factory=dict)
    """Keys whose values wait for the next start, where somebody asked for them too, with what
    holds until then. None: nothing."""

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def get(self, key: str, default: str = "") -> str:
        return self.values.get(key, default)

    @property
    def name(self) -> str:
        return self.values.get("name") or self.values.get("hostname", "")

    @property
    def uuid(self) -> UUID | None:
        """The SMBIOS UUID. None: there is none that can be read."""
        try:
            return Smbios.parse(self.values.get("smbios1", "")).uuid
        except ValueError:
            return None


@record
class PendingKey:
    """A key whose value waits for a restart, or just its value."""

    key: str
    value: str | None = None
    """None: not set now."""
    pending: str | None = None
    """None: it is to stay."""
    is_deleted: bool = False


@record
class VmStatus:
    """How a guest runs."""

    status: str
    """`running` or `stopped`."""
    name: str = ""
    qmp_status: str = ""
    """Of a VM: `running`, `paused`, `prelaunch`."""
    lock: str = ""
    uptime: int = 0
    cores: float = 0
    memory: int = 0
    """Bytes."""
    is_template: bool = False
    ha_managed: bool = False
    has_agent: bool = False
    """Whether its configuration offers a channel to an agent."""
    pid: int | None = None
    """None: it does not run."""


@record
class VmUpdate:
    """A change of a guest's configuration."""

    values: Mapping[str, Setting] = field(default_factory=dict)
    delete: tuple[str, ...] = ()
    revert: tuple[str, ...] = ()
    """Keys whose waiting change is dropped."""
    digest: str | None = None
    """`Conflict` where the configuration has another by now. None: whatever it is."""


@record
class CloneRequest:
    """What a clone is to be."""

    vmid: Vmid
    name: str
    full: bool | None = None
    """None: linked if the source is a template, else full."""
    storage: Datastore | None = None
    """Of a full clone. None: as the source."""
    target: HostName | None = None
    """None: the same host; another only where all disks are shared."""
    pool: str | None = None
    description: str | None = None


@record
class DiskMove:
    """Where a disk is to be."""

    disk: str
    storage: Datastore
    format: str | None = None
    """None: as it is, or the usual one."""
    delete_source: bool = True


@record
class MigrationRequest:
    """Where a guest is to run."""

    target: HostName
    online: bool = False
    """While it runs; no container can."""
    restart: bool = False
    """Whether a container that runs is ended here and started there."""
    with_local_disks: bool = False
    target_storage: str | None = None
    """None: storages of the same names."""


@record
class MigrationCheck:
    """Whether a VM could be migrated."""

    running: bool
    allowed: tuple[str, ...] = ()
    """Hosts that it could go to."""
    refused: dict[str, str] = field(default_factory=dict)
    """Hosts that it could not go to, and why."""
    local_disks: tuple[str, ...] = ()
    local_resources: tuple[str, ...] = ()
    """Keys with devices that hold it where it is while it runs."""
    mapped: tuple[str, ...] = ()
    """Those of them, and others, whose devices come from a mapping: they move with a VM that is
    switched off."""


@record
class Snapshot:
    """A snapshot of a guest."""

    name: str
    description: str = ""
    parent: str = ""
    """Empty: none before."""
    taken: int | None = None
    """Seconds since 1970."""
    with_memory: bool = False


@record
class AgentAddress:
    """An address that the agent sees."""

    address: str
    prefix: int
    kind: str
    """`ipv4` or `ipv6`."""


@record
class AgentInterface:
    """A network interface as the agent inside of a VM sees it."""

    name: str
    mac: str = ""
    addresses: tuple[AgentAddress, ...] = ()


class Vms(Protocol):
    """Guests by where they are. What returns a `TaskRef` has begun, not ended."""

    async def find_vm(self, vmid: Vmid) -> Vm | None:
        """The VM of a number, wherever it is. None: there is none that the token may see."""
        ...

    async def vm_config(self, at: GuestRef, *, current: bool = False) -> VmConfig:
        """The configuration, with changes that wait for a restart; `current`: without them."""
        ...

    async def vm_pending(self, at: GuestRef) -> tuple[PendingKey, ...]:
        """Every key, with what waits for a restart."""
        ...

    async def vm_status(self, at: GuestRef) -> VmStatus:
        """How a guest runs."""
        ...

    async def create_vm(self, at: GuestRef, values: Mapping[str, Setting]) -> TaskRef:
        """Make a guest. `Conflict` where the number is taken."""
        ...

    async def update_vm(self, at: GuestRef, change: VmUpdate) -> TaskRef | None:
        """Change a configuration; what cannot change while it runs waits. None: done already."""
        ...

    async def delete_vm(self, at: GuestRef, *, purge: bool = True) -> TaskRef:
        """Delete a guest that does not run with the disks that it owns; `purge`: from HA,
        backup and replication jobs too."""
        ...

    async def clone_vm(self, at: GuestRef, clone: CloneRequest) -> TaskRef:
        """Copy a guest."""
        ...

    async def make_template(self, at: GuestRef) -> TaskRef | None:
        """Make a guest a template, for ever."""
        ...

    async def resize_disk(self, at: GuestRef, disk: str, size: str) -> TaskRef | None:
        """Grow a disk to a size (`32G`) or by one (`+8G`); smaller fails."""
        ...

    async def move_disk(self, at: GuestRef, move: DiskMove) -> TaskRef:
        """Put a disk into another storage."""
        ...

    async def unlink_disks(
        self, at: GuestRef, disks: tuple[str, ...], *, destroy: bool = False
    ) -> None:
        """Detach disks; with `destroy` those that the guest owns are lost."""
        ...

    async def migration_outlook(
        self, at: GuestRef, target: HostName | None = None
    ) -> MigrationCheck:
        """Whether a VM could be migrated, and where."""
        ...

    async def migrate_vm(self, at: GuestRef, migration: MigrationRequest) -> TaskRef:
        """Move a guest to another host."""
        ...

    async def regenerate_cloud_init(self, at: GuestRef) -> None:
        """Write the cloud-init drive anew from the configuration."""
        ...

    async def cloud_init_text(self, at: GuestRef, part: Literal["user", "network", "meta"]) -> str:
        """What the cloud-init drive says."""
        ...


class Power(Protocol):
    """Guests, switched on and off."""

    async def start_vm(self, at: GuestRef) -> TaskRef:
        """Switch on; the task fails where it runs already."""
        ...

    async def stop_vm(self, at: GuestRef) -> TaskRef:
        """Switch off at once; fine where it is off."""
        ...

    async def shutdown_vm(self, at: GuestRef, *, seconds: int = 60, force: bool = False) -> TaskRef:
        """Ask the guest to end; `force`: switch off when it has not within the time."""
        ...

    async def reboot_vm(self, at: GuestRef, *, seconds: int = 60) -> TaskRef:
        """Shut down and start again, which applies what waits."""
        ...

    async def reset_vm(self, at: GuestRef) -> TaskRef:
        """Press the reset button."""
        ...

    async def suspend_vm(self, at: GuestRef) -> TaskRef:
        """Let it stand still."""
        ...

    async def resume_vm(self, at: GuestRef) -> TaskRef:
        """Let it go on."""
        ...


class Snapshots(Protocol):
    """Snapshots of guests."""

    async def snapshots(self, at: GuestRef) -> tuple[Snapshot, ...]:
        """Snapshots, without the present state."""
        ...

    async def take_snapshot(self, at: GuestRef, name: str, description: str = "") -> TaskRef:
        """Take a snapshot without memory. `Conflict` where the name is taken."""
        ...

    async def delete_snapshot(self, at: GuestRef, name: str) -> TaskRef:
        """Delete a snapshot."""
        ...

    async def roll_back(self, at: GuestRef, name: str) -> TaskRef:
        """Make a guest what it was; what came later is lost."""
        ...


class Agent(Protocol):
    """The agent inside of a VM."""

    async def agent_answers(self, at: GuestRef) -> bool:
        """Whether an agent answers. False too where the VM is off or offers no channel."""
        ...

    async def agent_interfaces(self, at: GuestRef) -> tuple[AgentInterface, ...]:
        """Interfaces as the guest sees them. `Unreachable` while no agent answers."""
        ...
