"""Machine configurations: read, and brought to a machine."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret


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


@record
class MaintenanceMachine:
    """A machine in maintenance."""

    address: MachineAddress
    fingerprint: str = ""
    """SHA-256 of its public key, as its console and `talosctl` show it. Empty: whoever answers."""
