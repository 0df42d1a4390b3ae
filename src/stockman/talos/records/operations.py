"""Operations on machines: configurations, reboots, resets, upgrades and images."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret


class ApplyMode(Enum):
    """How a configuration is applied."""

    REBOOT = "reboot"
    """With a reboot; Talos 1.14 no longer supports it."""
    AUTO = "auto"
    """Talos chooses; up to 1.13 it may reboot."""
    NO_REBOOT = "no-reboot"
    """Immediately; up to 1.13 `Rejected` if that is impossible."""
    STAGED = "staged"
    """At the next boot."""
    TRY = "try"
    """Immediately, and undone after a timeout."""


@record
class ApplyConfigurationRequest:
    """A configuration to apply."""

    text: Secret
    """All documents."""
    mode: ApplyMode
    dry_run: bool = False
    try_seconds: float = 60.0
    """Timeout of the mode `try`."""


@record
class ApplyConfigurationResult:
    """What applying a configuration did, or would do."""

    mode: ApplyMode | None
    """The mode that was used. None: a machine in maintenance does not report it before 1.13."""
    details: Secret
    """In words; a dry run includes the differences, which may contain secrets."""
    warnings: tuple[str, ...] = ()

    @property
    def reboots(self) -> bool:
        """Whether the machine reboots by itself."""
        return self.mode is ApplyMode.REBOOT


class RebootMode(Enum):
    """How a machine reboots."""

    DEFAULT = "default"
    """By kexec if possible, without the firmware."""
    POWERCYCLE = "powercycle"
    FORCE = "force"
    """Without stopping anything first; since Talos 1.12."""


class WipeMode(Enum):
    """Which disks a reset wipes."""

    ALL = "all"
    SYSTEM_DISK = "system-disk"
    USER_DISKS = "user-disks"


@record
class ResetRequest:
    """What a reset wipes, and how."""

    graceful: bool
    """Whether the machine drains its node and leaves etcd first."""
    reboot: bool
    """False: it is shut down at the end."""
    mode: WipeMode = WipeMode.ALL
    partitions: tuple[str, ...] = ()
    """`STATE`, `EPHEMERAL`. Empty: the whole system disk."""
    user_disks: tuple[str, ...] = ()
    """`/dev/sdb`."""


ProgressCallback = Callable[[str], None]
"""Called with every line of an installer's output."""


class UpgradeApi(Enum):
    """The API that upgrades a Talos."""

    LEGACY = "legacy"
    """Talos checks etcd, drains, installs and reboots by itself."""
    LIFECYCLE = "lifecycle"
    """Talos only installs; etcd, draining and the reboot are up to us. Since Talos 1.13."""


@record
class UpgradeRequest:
    """What to install, and how."""

    image: str
    """The installer."""
    stage: bool = False
    """Only legacy: install at the next boot."""
    powercycle: bool = False
    """Only legacy: boot through the firmware."""


@record
class UpgradeResult:
    """An upgrade that was started or is complete."""

    api: UpgradeApi
    actor: str = ""
    """The actor in its events. Empty: it is complete."""
    lines: tuple[str, ...] = ()
    """Output of the installer."""

    @property
    def reboots(self) -> bool:
        """Whether the machine reboots by itself."""
        return self.api is UpgradeApi.LEGACY


class ImageStore(Enum):
    """An image store of a machine."""

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


@record
class MaintenanceMachine:
    """A machine in maintenance."""

    address: MachineAddress
    fingerprint: str = ""
    """SHA-256 of its public key, as its console and `talosctl` show it. Empty: not checked."""
