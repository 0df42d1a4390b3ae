"""The database file of etcd as it lies on a machine's disk: a raw copy has no checksum."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman.etcd.snapshot import Snapshot
    from stockman_lab.talos.machine import Machine

_CHECKSUM = 32


def etcd_database(machine: Machine) -> bytes:
    """The file. Empty: the machine is no member of a cluster."""
    from stockman.etcd.snapshot import snapshot_pieces

    content = _content(machine)
    return b"" if content is None else b"".join(snapshot_pieces(content))[:-_CHECKSUM]


def etcd_database_size(machine: Machine) -> int:
    """How long the file is, without writing it."""
    from stockman.etcd.snapshot import snapshot_size

    content = _content(machine)
    return 0 if content is None else snapshot_size(content) - _CHECKSUM


def _content(machine: Machine) -> Snapshot | None:
    from stockman_lab.etcd.snapshots import content_of
    from stockman_lab.talos.etcd_member import cluster_of

    cluster = cluster_of(machine)
    return None if cluster is None else content_of(cluster)
