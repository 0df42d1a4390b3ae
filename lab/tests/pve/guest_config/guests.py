"""Guests that tests change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stockman_lab.pve.formats.drive import Drive
from stockman_lab.pve.formats.mount_point import MountPoint
from stockman_lab.pve.formats.sizes import new_disk_bytes, new_mount_bytes
from stockman_lab.pve.guest_config.change import ConfigChange, read_machine_change
from stockman_lab.pve.guest_config.context import GuestContext, Outcome
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_config.update import plan_update

ROOT = "local-lvm:vm-100-disk-0"
DATA = "local-lvm:vm-100-disk-1"
FOREIGN = "local-lvm:vm-9999-pvc-1"
MAC = "BC:24:11:00:00:01"


def owned(volume: str) -> bool:
    """Whether a volume is of guest 100 or 200."""
    return "-100-" in volume or "-200-" in volume


def made(drive: Drive) -> Drive:
    """A drive whose new volume always has number 7."""
    if drive.new_cloud_init:
        drive.file = f"{drive.new_cloud_init}:vm-100-cloudinit"
        drive.options["media"] = "cdrom"
    elif drive.new_disk:
        storage, gibibytes = drive.new_disk
        drive.file, drive.size = f"{storage}:vm-100-disk-7", new_disk_bytes(gibibytes)
        drive.options.pop("format", None)
    return drive


def mounted(mount: MountPoint) -> MountPoint:
    """A mount whose new volume always has number 7."""
    if mount.new_volume:
        storage, gibibytes = mount.new_volume
        mount.volume, mount.size = f"{storage}:vm-200-disk-7", new_mount_bytes(gibibytes)
    return mount


STOPPED = GuestContext(vmid=100, running=False, owns=owned, made=made, mounted=mounted)
RUNNING = replace(STOPPED, running=True)


def machine(**more: str) -> GuestConfig:
    """A virtual machine with two disks and a card."""
    values = {
        "boot": "order=scsi0;net0",
        "cores": "2",
        "memory": "4096",
        "name": "ctrl-1",
        "net0": f"virtio={MAC},bridge=vmbr0",
        "ostype": "l26",
        "scsi0": f"{ROOT},size=32G",
        "scsi1": f"{DATA},size=8G",
    }
    return GuestConfig({**values, **more})


def update(config: GuestConfig, context: GuestContext, parameters: Mapping[str, str]) -> Outcome:
    """What a request with these parameters does."""
    return plan_update(config, read_machine_change(parameters), context)


def changed(config: GuestConfig, context: GuestContext, **sets: str) -> Outcome:
    """What a request that only sets keys does."""
    return plan_update(config, ConfigChange(sets=sets), context)
