"""Settings of an external Ceph cluster, as exported by Rook's script."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Annotated

from stockman.catalog.component import ComponentContext
from stockman.model.formats import Example
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record

SECRETS = {
    "admin-key": "key of the user for health checks",
    "rbd-node-key": "key of the user that maps volumes",
    "rbd-provisioner-key": "key of the user that creates volumes",
}
FILESYSTEM_SECRETS = {
    "cephfs-node-key": "key of the user that mounts file systems",
    "cephfs-provisioner-key": "key of the user that creates file systems",
}


@record
class RookCephSettings(Traced):
    """The Ceph cluster, as `create-external-cluster-resources.py` of Rook prints it."""

    fsid: Annotated[str, Example("4b1a5b5c-0c2b-4b1e-9a53-2f1f2b0f3a11")] = ""
    """ID of the Ceph cluster."""
    monitors: tuple[Annotated[str, Example("a=127.66.0.31:6789")], ...] = ()
    """Monitors as `name=address:port`."""
    user: str = "client.healthchecker"
    """User for health checks."""
    pool: str = "rbd"
    """Pool of volumes."""
    filesystem: str = ""
    """Name of a CephFS. Empty: no file systems."""
    filesystem_pool: str = ""
    """Data pool of that file system. Empty: `<filesystem>-data0`."""
    managers: tuple[IPv4Address, ...] = ()
    """Addresses of the Ceph managers, which are scraped if monitoring is enabled."""


def missing_secrets(context: ComponentContext) -> list[str]:
    """Return the required secrets that are missing."""
    filesystem = context.settings_as(RookCephSettings).filesystem
    needed = SECRETS | (FILESYSTEM_SECRETS if filesystem else {})
    return [name for name in needed if name not in context.options.secrets]


def check(context: ComponentContext, problems: Problems) -> None:
    """Report missing settings of the Ceph cluster."""
    settings = context.settings_as(RookCephSettings)
    if not settings.fsid or not settings.monitors:
        problems.error(
            "ceph.cluster",
            "rook-ceph has no Ceph cluster",
            why="fsid and monitors are needed to connect to it",
            fix="run create-external-cluster-resources.py on a Ceph host, and copy both values",
            at=context.options.where("enabled"),
        )
