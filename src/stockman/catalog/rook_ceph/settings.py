"""Settings of an external Ceph cluster: what its export prints."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Annotated

from stockman.catalog.component import ComponentContext
from stockman.model.formats import Example
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record

SECRETS = {
    "admin-key": "key of the user that checks health",
    "rbd-node-key": "key of the user that maps volumes",
    "rbd-provisioner-key": "key of the user that makes volumes",
}
FILESYSTEM_SECRETS = {
    "cephfs-node-key": "key of the user that mounts file systems",
    "cephfs-provisioner-key": "key of the user that makes file systems",
}


@record
class RookCephSettings(Traced):
    """The Ceph cluster, as `create-external-cluster-resources.py` of Rook prints it."""

    fsid: Annotated[str, Example("4b1a5b5c-0c2b-4b1e-9a53-2f1f2b0f3a11")] = ""
    """Identity of the Ceph cluster."""
    monitors: tuple[Annotated[str, Example("a=127.66.0.31:6789")], ...] = ()
    """Monitors as `name=address:port`."""
    user: str = "client.healthchecker"
    """User that checks health."""
    pool: str = "rbd"
    """Pool of volumes."""
    filesystem: str = ""
    """Name of a CephFS. Empty: no file systems."""
    filesystem_pool: str = ""
    """Data pool of that file system. Empty: `<filesystem>-data0`."""
    managers: tuple[IPv4Address, ...] = ()
    """Addresses of Ceph's managers, whose figures are read where monitoring is on."""


def settings_of(scene: ComponentContext) -> RookCephSettings:
    """The component's settings."""
    settings = scene.settings
    return settings if isinstance(settings, RookCephSettings) else RookCephSettings()


def mandatory_secrets(scene: ComponentContext) -> dict[str, str]:
    """The secrets that these settings need, with what each is."""
    return SECRETS | (FILESYSTEM_SECRETS if settings_of(scene).filesystem else {})


def missing_secrets(scene: ComponentContext) -> list[str]:
    """The secrets that are not given yet."""
    return [name for name in mandatory_secrets(scene) if name not in scene.wish.secrets]


def check(scene: ComponentContext, problems: Problems) -> None:
    """Report a cluster that cannot be found."""
    settings = settings_of(scene)
    if not settings.fsid or not settings.monitors:
        problems.error(
            "ceph.cluster",
            "rook-ceph does not know the Ceph cluster",
            why="fsid and monitors say which it is and where it answers",
            fix="run create-external-cluster-resources.py on a Ceph host, and copy both",
            at=scene.wish.where("enabled"),
        )
