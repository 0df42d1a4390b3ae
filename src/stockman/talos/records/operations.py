"""Machine configurations: read, and brought to a machine."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol
from uuid import UUID

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.records.machines import Disk, Link, TalosVersion


class ApplyMode(Enum):
    """How a configuration is taken over."""

    REBOOT = "reboot"
    """With a reboot; Talos 1.14 does not do it any more."""
    AUTO = "auto"
    """Talos chooses; up to 1.13 it may reboot."""
    NO_REBOOT = "no-reboot"
    """At once; up to 1.13 `Rejected` where that is not possible."""
    STAGED = "staged"
    """At the next boot."""
    TRY = "try"
    """At once, and back after a while."""


@record
class ApplyConfigurationRequest:
    """A configuration that is to be applied."""

    text: Secret
    """All documents."""
    mode: ApplyMode
    dry_run: bool = False
    try_seconds: float = 60.0
    """After which `try` goes back."""


@record
class ApplyConfigurationResult:
    """What became, or would become, of a configuration."""

    mode: ApplyMode | None
    """What was done in the end. None: a machine in maintenance does not tell before Talos 1.13."""
    details: Secret
    """In words; of a dry run with the differences, in which secrets may stand."""
    warnings: tuple[str, ...] = ()

    @property
    def reboots(self) -> bool:
        """Whether the machine boots again by itself."""
        return self.mode is ApplyMode.REBOOT


class Configurations(Protocol):
    """Configurations of machines."""

    async def machine_configuration(self, node: MachineAddress) -> Secret:
        """The configuration in use, with all its documents, as it was applied."""
        ...

    async def apply_configuration(
        self, node: MachineAddress, application: ApplyConfigurationRequest
    ) -> ApplyConfigurationResult:
        """Apply a configuration. `Rejected` with Talos' own words where it does not take it."""
        ...


class RebootMode(Enum):
    """How a machine boots again."""

    DEFAULT = "default"
    """Through kexec where it can, without the firmware."""
    POWERCYCLE = "powercycle"
    FORCE = "force"
    """Without stopping anything first; since Talos 1.12."""


class WipeMode(Enum):
    """Which disks a reset is about."""

    ALL = "all"
    SYSTEM_DISK = "system-disk"
    USER_DISKS = "user-disks"


@record
class ResetRequest:
    """What is to be wiped."""

    graceful: bool
    """Whether it drains and leaves etcd first."""
    reboot: bool
    """False: it is switched off in the end."""
    mode: WipeMode = WipeMode.ALL
    partitions: tuple[str, ...] = ()
    """`STATE`, `EPHEMERAL`. Empty: the whole system disk."""
    user_disks: tuple[str, ...] = ()
    """`/dev/sdb`."""


class Power(Protocol):
    """Sequences that take a machine down; each answers at once with the id of its actor."""

    async def reboot(self, node: MachineAddress, mode: RebootMode = RebootMode.DEFAULT) -> str:
        """Boot again. `Unsupported` where this Talos does not know the mode."""
        ...

    async def shut_down(self, node: MachineAddress, *, force: bool = False) -> str:
        """Switch off; without `force` pods are moved away first."""
        ...

    async def reset(self, node: MachineAddress, reset: ResetRequest) -> str:
        """Wipe disks or partitions."""
        ...

    async def roll_back(self, node: MachineAddress) -> None:
        """Boot what was installed before."""
        ...


ProgressCallback = Callable[[str], None]
"""Told every line of an installer."""


class UpgradeApi(Enum):
    """How a Talos is upgraded."""

    LEGACY = "legacy"
    """It looks at etcd, drains, installs and boots by itself."""
    LIFECYCLE = "lifecycle"
    """It installs and no more: etcd, pods and the reboot are ours. Since Talos 1.13."""


@record
class UpgradeRequest:
    """What is to be installed."""

    image: str
    """The installer."""
    stage: bool = False
    """Only legacy: install at the next boot."""
    powercycle: bool = False
    """Only legacy: boot through the firmware."""


@record
class UpgradeResult:
    """An upgrade that was taken on or carried out."""

    api: UpgradeApi
    actor: str = ""
    """Who carries it out, in events. Empty: it is done."""
    lines: tuple[str, ...] = ()
    """What the installer said."""

    @property
    def reboots(self) -> bool:
        """Whether the machine boots by itself."""
        return self.api is UpgradeApi.LEGACY


class Upgrades(Protocol):
    """Upgrades of machines."""

    async def upgrade_api(self, node: MachineAddress) -> UpgradeApi:
        """How the Talos that runs is upgraded."""
        ...

    async def upgrade(
        self, node: MachineAddress, upgrade: UpgradeRequest, tell: ProgressCallback | None = None
    ) -> UpgradeResult:
        """Upgrade in the way that the Talos which runs offers; images are pulled by this too."""
        ...

    async def run_installer(
        self, node: MachineAddress, image: str, tell: ProgressCallback | None = None
    ) -> tuple[str, ...]:
        """Run an installer that was pulled, and return what it said; nothing boots.

        `Rejected` where it ended with an error, `Uncertain` where it did not tell how it ended.
        """
        ...


class ImageStore(Enum):
    """Whose images they are."""

    SYSTEM = "system"
    """Of Talos itself: installers, kubelet, etcd."""
    KUBERNETES = "kubernetes"


@record
class StoredImage:
    """An image in a store."""

    name: str
    digest: str
    size: int
    """Bytes."""


class Images(Protocol):
    """The image stores of a machine."""

    async def images(self, node: MachineAddress, store: ImageStore) -> tuple[StoredImage, ...]:
        """All images of a store."""
        ...

    async def pull_image(self, node: MachineAddress, reference: str, store: ImageStore) -> None:
        """Have the machine fetch an image; returns when it has it."""
        ...


@record
class MaintenanceMachine:
    """A machine in maintenance."""

    address: MachineAddress
    fingerprint: str = ""
    """SHA-256 of its public key, as its console and `talosctl` show it. Empty: whoever answers."""


class Maintenance(Protocol):
    """Calls without a certificate of ours; `Refused` where the fingerprint is another one."""

    async def is_in_maintenance(self, at: MaintenanceMachine) -> bool:
        """Whether a machine waits for its configuration; False: it has one, or is still booting."""
        ...

    async def maintenance_version(self, at: MaintenanceMachine) -> TalosVersion:
        """Which Talos waits. `Unsupported` before Talos 1.13."""
        ...

    async def maintenance_uuid(self, at: MaintenanceMachine) -> UUID:
        """The UUID that its firmware tells: that of its VM."""
        ...

    async def maintenance_disks(self, at: MaintenanceMachine) -> tuple[Disk, ...]:
        """Its disks and drives."""
        ...

    async def maintenance_links(self, at: MaintenanceMachine) -> tuple[Link, ...]:
        """Its links."""
        ...

    async def configure(
        self, at: MaintenanceMachine, application: ApplyConfigurationRequest
    ) -> ApplyConfigurationResult:
        """Give it its first configuration.

        All secrets of the cluster are in it: without a fingerprint whoever answers gets them.
        """
        ...
