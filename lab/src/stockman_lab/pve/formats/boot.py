"""What a virtual machine boots from: `order=scsi0;ide2;net0`."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.drive import BOOT_DRIVES, readable_drive
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.formats.property_string import DEFAULT_KEY, Format, parse

_DRIVES = frozenset(BOOT_DRIVES)
_NETS = tuple(f"net{number}" for number in range(32))


BOOT: Format = {"legacy": DEFAULT_KEY}


def boot_order(text: str) -> list[str]:
    """Devices of an order; none where only the old letters are given. Raises `FormatError`."""
    return split_list(parse(BOOT, text).get("order", ""))


def print_order(devices: Sequence[str]) -> str:
    """The canonical text of an order; nothing for no device."""
    return f"order={';'.join(devices)}" if devices else ""


def default_order(config: Mapping[str, str]) -> list[str]:
    """What a new machine boots from: its first disk, first optical drive and first card."""
    disk = cdrom = ""
    for key in BOOT_DRIVES:
        drive = readable_drive(key, config[key]) if config.get(key) else None
        if drive and drive.is_cdrom:
            cdrom = cdrom or key
        elif drive:
            disk = disk or key
    net = next((key for key in _NETS if config.get(key)), "")
    return [device for device in (disk, cdrom, net) if device]


def check_order_exists(text: str, known: Container[str], deleted: Container[str]) -> None:
    """Refuses an order with a device that the machine does not have or is about to lose."""
    for device in boot_order(text):
        if device not in known or device in deleted:
            raise die(f"invalid bootorder: device '{device}' does not exist'")


def boot_disks(config: Mapping[str, str]) -> list[str]:
    """Drives that may not be unplugged while the machine runs."""
    text = config.get("boot", "")
    found = parse(BOOT, text) if text else {}
    if not found or "legacy" in found:
        return [config["bootdisk"]] if config.get("bootdisk") else []
    return [device for device in split_list(found.get("order", "")) if device in _DRIVES]
