"""Which disks of a guest are part of its backups, and why others are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from stockman_lab.pve.formats.drive import DRIVES
from stockman_lab.pve.guest import Guest

_MOUNT = re.compile(r"rootfs|mp\d+", re.ASCII)
_OFF = frozenset({"0", "off", "no", "false"})
_ON = frozenset({"1", "on", "yes", "true"})


@dataclass(frozen=True, slots=True)
class BackupDisk:
    """A disk of a guest, as backups see it."""

    key: str
    volid: str
    included: bool
    reason: str


def backup_disks(guest: Guest) -> Iterator[BackupDisk]:
    """Disks of a guest in order; CD-ROM drives are none."""
    for key, value in guest.config.values.items():
        if guest.kind == "qemu" and key in DRIVES:
            yield from _drive(guest, key, value)
        elif guest.kind == "lxc" and _MOUNT.fullmatch(key):
            yield _mount(key, value)


def _drive(guest: Guest, key: str, value: str) -> Iterator[BackupDisk]:
    volid, options = _read(value, "file")
    if options.get("media") == "cdrom" or ":" not in volid:
        return
    if key == "efidisk0" and guest.config.values.get("bios", "seabios") != "ovmf":
        yield BackupDisk(key, volid, False, "efidisk but no OMVF BIOS")
    elif options.get("backup", "1").lower() in _OFF:
        yield BackupDisk(key, volid, False, "disabled")
    else:
        yield BackupDisk(key, volid, True, "enabled")


def _mount(key: str, value: str) -> BackupDisk:
    volid, options = _read(value, "volume")
    if key == "rootfs":
        return BackupDisk(key, volid, True, "rootfs")
    if ":" not in volid:
        return BackupDisk(key, volid, False, "not a volume")
    if options.get("backup", "0").lower() in _ON:
        return BackupDisk(key, volid, True, "enabled")
    return BackupDisk(key, volid, False, "disabled")


def _read(value: str, bare: str) -> tuple[str, dict[str, str]]:
    first, *rest = value.split(",")
    options = dict(part.split("=", 1) for part in rest if "=" in part)
    return first.removeprefix(f"{bare}="), options
