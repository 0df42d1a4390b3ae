"""Settings of Proxmox CSI: the storage classes."""

from __future__ import annotations

from typing import Annotated, Literal

from stockman.catalog.component import ComponentContext
from stockman.catalog.proxmox_config import check_proxmox
from stockman.model.formats import Between, DatastoreText, HostNameText, Name
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record

PASSPHRASE = "encryption-passphrase"
"""Name of the secret with which encrypted volumes are opened."""


@record
class StorageClass(Traced):
    """One storage class: a Proxmox storage, and how volumes on it are made."""

    name: Name
    """Name of the class."""
    storage: DatastoreText
    """Proxmox storage."""
    default: bool = False
    """Whether claims that name no class get this one."""
    shared: bool = False
    """Whether the storage is reachable from every host; then volumes are made at once."""
    filesystem: Literal["ext4", "xfs"] = "ext4"
    """Filesystem of new volumes."""
    reclaim: Literal["delete", "retain"] = "delete"
    """What becomes of a volume whose claim is gone."""
    cache: Literal["directsync", "none", "writeback", "writethrough"] | None = None
    """Cache mode. None: that of Proxmox VE."""
    ssd: bool = True
    """Whether the guest sees an SSD and frees blocks."""
    encrypted: bool = False
    """Whether volumes are encrypted with LUKS; needs `secrets.encryption-passphrase`."""
    zones: tuple[HostNameText, ...] = ()
    """Hosts on which volumes may be made. Empty: wherever the storage is."""
    iops: Annotated[int, Between(1, 1_000_000)] | None = None
    """Operations per second. None: no limit."""
    megabytes_per_second: Annotated[int, Between(1, 100_000)] | None = None
    """Bandwidth. None: no limit."""


@record
class ProxmoxCsiSettings(Traced):
    """Storage classes, and what else volumes can do."""

    classes: tuple[StorageClass, ...] = ()
    """Storage classes. Empty: one named `proxmox` on the component's `storage`."""
    snapshots: bool = False
    """Whether volumes can be snapshotted. Proxmox VE lets only root@pam do that: no token of
    the component's own is enough."""


def settings_of(scene: ComponentContext) -> ProxmoxCsiSettings:
    """The component's settings."""
    settings = scene.settings
    return settings if isinstance(settings, ProxmoxCsiSettings) else ProxmoxCsiSettings()


def check(scene: ComponentContext, problems: Problems) -> None:
    """Report classes that cannot work."""
    check_proxmox(scene, problems)
    settings = settings_of(scene)
    if not settings.classes and scene.wish.storage is None:
        problems.error(
            "csi.storage",
            "proxmox-csi has no storage",
            why="it makes volumes on a storage of Proxmox VE, and none is named",
            fix="set components.proxmox-csi.storage, or its settings.classes",
            at=scene.wish.where("enabled"),
        )
    if sum(one.default for one in settings.classes) > 1:
        problems.error(
            "csi.default",
            "several storage classes are the default",
            why="Kubernetes would take the newest of them",
            fix="leave default: true on one",
            at=settings.where("classes"),
        )
    if any(one.encrypted for one in settings.classes) and PASSPHRASE not in scene.wish.secrets:
        problems.error(
            "csi.passphrase",
            "volumes are encrypted, and there is no passphrase",
            why="the node opens an encrypted volume with it",
            fix=f"set components.proxmox-csi.secrets.{PASSPHRASE}",
            at=settings.where("classes"),
        )
    if settings.snapshots:
        problems.warn(
            "csi.snapshots",
            "snapshots of volumes need the password of root",
            why="Proxmox VE lets only root@pam copy a disk that no VM owns",
            fix="leave snapshots off, or accept that this component holds root's access",
            at=settings.where("snapshots"),
        )
