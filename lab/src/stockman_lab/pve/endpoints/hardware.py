"""`/nodes/NODE/hardware` and `disks`: devices, disks and ZFS pools of a host."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.host import PciDevice, PhysicalDisk, UsbDevice

_PATH = "/nodes/{node}/hardware"
_HIDDEN = "05;06;0b"
"""Memory controllers, bridges and processors."""


@endpoint("GET", f"{_PATH}/pci")
def pci(call: Call) -> object:
    hidden = split_list(call.text("pci-class-blacklist", _HIDDEN))
    verbose = call.flag("verbose", default=True)
    return [
        _pci_row(device, verbose=verbose)
        for device in sorted(call.node.pci, key=lambda one: one.id)
        if not any(device.device_class.startswith(f"0x{prefix}") for prefix in hidden)
    ]


@endpoint("GET", f"{_PATH}/usb")
def usb(call: Call) -> object:
    return [_usb_row(device) for device in call.node.usb]


def _pci_row(device: PciDevice, *, verbose: bool) -> dict[str, object]:
    row: dict[str, object] = {
        "id": device.id,
        "vendor": device.vendor,
        "device": device.device,
        "class": device.device_class,
        "iommugroup": device.iommugroup,
    }
    if device.mdev:
        row["mdev"] = 1
    if not verbose:
        return row
    names = {
        "vendor_name": device.vendor_name,
        "device_name": device.device_name,
        "subsystem_vendor": device.subsystem_vendor,
        "subsystem_device": device.subsystem_device,
    }
    return row | {key: value for key, value in names.items() if value}


def _usb_row(device: UsbDevice) -> dict[str, object]:
    row: dict[str, object] = {
        "busnum": device.busnum,
        "devnum": device.devnum,
        "class": device.device_class,
        "level": device.level,
        "port": device.port,
        "usbpath": device.usbpath.rpartition("-")[2],
        "vendid": device.vendid.removeprefix("0x"),
        "prodid": device.prodid.removeprefix("0x"),
        "speed": device.speed,
    }
    names = {
        "manufacturer": device.manufacturer,
        "product": device.product,
        "serial": device.serial,
    }
    return row | {key: value for key, value in names.items() if value}


_OLDEST = (2, 4)
_MINORS = {2: 12, 3: 1, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2, 9: 2}


_FLASH = frozenset({"ssd", "nvme"})


def disk_row(disk: PhysicalDisk, *, skip_health: bool) -> dict[str, object]:
    """A disk as lists show it."""
    row: dict[str, object] = {
        "devpath": disk.devpath,
        "size": disk.size,
        "vendor": disk.vendor,
        "model": disk.model or "unknown",
        "serial": disk.serial or "unknown",
        "wwn": disk.wwn or "unknown",
        "type": "nvme" if "nvme" in disk.devpath else disk.kind,
        "rpm": disk.rpm,
        "gpt": int(disk.gpt or bool(disk.used)),
        "mounted": int(is_mounted(disk)),
        "health": "UNKNOWN" if skip_health else disk.health,
        "wearout": 100 if disk.kind in _FLASH and not skip_health else "N/A",
        "osdid": -1,
        "osdid-list": [],
    }
    if disk.serial:
        name = f"{disk.model}_{disk.serial}".replace(" ", "_")
        row["by_id_link"] = f"/dev/disk/by-id/ata-{name}"
    if disk.used:
        row["used"] = disk.used
    return row


def is_mounted(disk: PhysicalDisk) -> bool:
    """Whether a file system of it is in use."""
    return disk.used in ("mounted", "ext4", "xfs", "BIOS boot", "EFI")


@endpoint("GET", "/nodes/{node}/disks/list")
def disks(call: Call) -> object:
    kind = call.text("type")
    return [
        disk_row(disk, skip_health=call.flag("skipsmart"))
        for disk in sorted(call.node.disks, key=lambda one: one.devpath)
        if kind == ""
        or not disk.used
        or (kind == "journal_disks" and disk.used in ("partitions", "LVM"))
    ]


_DISKS = "/nodes/{node}/disks"


def _device(name: str) -> dict[str, object]:
    return {"name": name, "msg": "", "state": "ONLINE", "read": 0, "write": 0, "cksum": 0}
