"""Backups by the names of their files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from stockman_lab.pve.formats.volume_name import BACKUP_EXTENSION

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

    @property
    def is_usual(self) -> bool:
        return self.created_at is not None


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
