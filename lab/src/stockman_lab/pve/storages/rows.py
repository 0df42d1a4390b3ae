"""Rows about volumes and storages, as lists and status pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.formats.volume_name import BACKUP_EXTENSION
from stockman_lab.pve.host import Host
from stockman_lab.pve.storage import KINDS, Storage, Volume

_ARCHIVE = re.compile(rf"(vzdump-(lxc|openvz|qemu)-.+({BACKUP_EXTENSION}))")
_USUAL = re.compile(
    r"vzdump-(?:lxc|openvz|qemu)-([1-9][0-9]{2,8})"
    r"-(\d{4})_(\d{2})_(\d{2})-(\d{2})_(\d{2})_(\d{2})\..+",
    re.ASCII,
)
_SERVER = re.compile(r"backup/(vm|ct)/(\d+)/(\S+Z)", re.ASCII)
_SERVER_TYPES = {"vm": "qemu", "ct": "lxc"}


@dataclass(frozen=True, slots=True)
class ArchiveInfo:
    """What the name of a backup says."""

    type: str
    """`qemu`, `lxc`, `openvz` or `unknown`."""
    vmid: int = 0
    created_at: float | None = None
    """None: it was renamed."""


def archive_info(name: str) -> ArchiveInfo:
    """What a backup is; `name` is that of its volume."""
    if found := _SERVER.fullmatch(name):
        made = datetime.fromisoformat(found[3])
        return ArchiveInfo(_SERVER_TYPES[found[1]], int(found[2]), made.timestamp())
    file = name.rpartition("/")[2]
    archive = _ARCHIVE.fullmatch(file)
    if archive is None:
        return ArchiveInfo("unknown")
    usual = _USUAL.fullmatch(file)
    if usual is None:
        return ArchiveInfo(archive[2])
    vmid, *parts = (int(group) for group in usual.groups())
    try:
        made = datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]  # six numbers
    except ValueError:
        return ArchiveInfo(archive[2])
    return ArchiveInfo(archive[2], vmid, made.timestamp())


CONTENTS = ("rootdir", "images", "vztmpl", "iso", "backup", "snippets", "import")
_DISKS = frozenset({"images", "rootdir"})
_NOT_OF_A_GUEST = frozenset({"iso", "vztmpl"})
_NAMED = frozenset({"zfspool", "rbd"})
_DATED = frozenset({"lvm", "lvmthin"})


def volume_rows(
    cluster: Cluster, storage: Storage, host: Host, *, content: str = "", vmid: int = 0
) -> Iterator[dict[str, object]]:
    """Volumes of a storage as a host sees them; `vmid` 0: of everybody."""
    contents = {content} if content else set(CONTENTS)
    for volume in sorted(
        space.volumes_on(cluster, storage, host.name), key=lambda one: one.name.lower()
    ):
        kind = content_of(cluster, volume)
        if kind not in contents or kind not in storage.content:
            continue
        if vmid and (kind in _NOT_OF_A_GUEST or (_is_owned(kind) and volume.vmid != vmid)):
            continue
        yield volume_row(cluster, storage, volume)


def _is_owned(kind: str) -> bool:
    return kind in _DISKS or kind == "backup"


def content_of(cluster: Cluster, volume: Volume) -> str:
    """What lists call the content of a volume: disks belong to machines or to containers."""
    if volume.content not in _DISKS:
        return volume.content
    owner = cluster.state.guests.get(volume.vmid)
    return "rootdir" if owner is not None and owner.kind == "lxc" else "images"


def volume_row(cluster: Cluster, storage: Storage, volume: Volume) -> dict[str, object]:
    """One volume."""
    row: dict[str, object] = {
        "volid": volume.id,
        "content": content_of(cluster, volume),
        "format": volume.format,
        "size": volume.size,
    }
    if volume.content in _DISKS:
        return row | _disk(storage, volume)
    row["size"] = volume.used
    row["ctime"] = int(volume.created_at)
    if volume.content == "snippets":
        row["format"] = "snippet"
    if volume.content == "backup":
        row |= _backup(volume)
    return row


def _disk(storage: Storage, volume: Volume) -> dict[str, object]:
    row: dict[str, object] = {"vmid": volume.vmid}
    if volume.parent and storage.type != "lvmthin":
        row["parent"] = _parent(storage, volume.parent)
    if storage.is_files:
        row |= {"used": volume.used, "ctime": int(volume.created_at)}
    if storage.type in _DATED:
        row["ctime"] = int(volume.created_at)
    if storage.type in _NAMED:
        row["name"] = volume.name.rpartition("/")[2]
    return row


def _parent(storage: Storage, name: str) -> str:
    return f"../{name}" if storage.is_files else f"{name}@__base__"


def _backup(volume: Volume) -> dict[str, object]:
    info = archive_info(volume.name)
    row: dict[str, object] = {"subtype": info.type}
    if info.created_at is not None:
        row["ctime"] = int(info.created_at)
    owner = volume.vmid or info.vmid
    if owner:
        row["vmid"] = owner
    if volume.notes:
        row["notes"] = volume.notes.split("\n")[0]
    if volume.protected:
        row["protected"] = 1
    return row


def storage_row(
    cluster: Cluster,
    storage: Storage,
    host: Host,
    taken: space.Taken | None = None,
    *,
    with_formats: bool = False,
) -> dict[str, object]:
    """A storage on a host: whether it is there, and how full it is."""
    enabled = storage.is_enabled and storage.is_on(host.name)
    row: dict[str, object] = {
        "type": storage.type,
        "total": 0,
        "avail": 0,
        "used": 0,
        "shared": int(storage.is_shared),
        "content": ",".join(sorted(storage.content)) or "none",
        "active": 0,
        "enabled": int(enabled),
    }
    if not enabled:
        return row
    if with_formats:
        row |= _formats(cluster, storage)
    if space.pool_of(cluster, storage, host) is not None:
        found = space.space(cluster, storage, host, taken)
        row |= {"total": found.total, "avail": found.avail, "used": found.used, "active": 1}
    return row


def formats_of(storage: Storage) -> tuple[tuple[str, ...], str]:
    """Formats that disks on a storage can have, and that of those which ask for none."""
    if storage.type == "lvm" and storage.options.get("snapshot-as-volume-chain") == "1":
        return ("qcow2", "raw"), "qcow2"
    return KINDS[storage.type].formats, storage.options.get("format", "raw")


def _formats(cluster: Cluster, storage: Storage) -> dict[str, object]:
    supported, default = formats_of(storage)
    row: dict[str, object] = {"format": [dict.fromkeys(supported, 1), default]}
    if cluster.is_nine:
        row["formats"] = {"supported": sorted(supported), "default": default}
    return row
