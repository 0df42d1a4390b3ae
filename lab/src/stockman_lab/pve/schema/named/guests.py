"""Formats of virtual machines and containers."""

from __future__ import annotations

import re
from itertools import chain

from stockman_lab.pve.schema.named.checker import Checker, like
from stockman_lab.pve.schema.perl import split_list

_DISKS = {"ide": 4, "scsi": 31, "virtio": 16, "sata": 6}
DISKS = frozenset(f"{bus}{n}" for bus, count in _DISKS.items() for n in range(count))
_BOOTABLE = DISKS | frozenset(
    chain.from_iterable(
        (f"{name}{n}" for n in range(count))
        for name, count in (("net", 32), ("usb", 14), ("hostpci", 16))
    )
)
_BOOT_DISKS = DISKS | {"efidisk0", "tpmstate0"}
_HOTPLUG = frozenset({"network", "disk", "cpu", "memory", "usb", "cloudinit"})
_CPUS = re.compile(r"\s*(\d+)(?:-(\d+))?\s*$")
_UPWARDS = re.compile(r"/\.\.?/|/\.\.?$|^\.\./")
_DEVICE_UPWARDS = re.compile(r"/\.\.?(?:/|$)")
_ZONE = re.compile(r"(?:host|UTC|[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z_-]+){1,2})$")


def boot_disk(text: str) -> str | None:
    """A drive."""
    return None if text in _BOOT_DISKS else f"invalid boot disk '{text}'"


def boot_device(text: str) -> str | None:
    """What a machine can boot from."""
    return None if text in _BOOTABLE else f"invalid boot device '{text}'"


def hotplug_features(text: str) -> str | None:
    """`0`, `1`, or features."""
    if text in {"0", "1"}:
        return None
    wrong = next((name for name in split_list(text) if name not in _HOTPLUG), None)
    return None if wrong is None else f"invalid hotplug feature '{wrong}'"


def cpu_set(text: str) -> str | None:
    """`0,5,8-11`."""
    for piece in text.rstrip(",").split(",") if text.rstrip(",") else ():
        match = _CPUS.match(piece)
        if match is None or (match[2] and float(match[2]) < float(match[1])):
            return "unable to parse cpuset option"
    return None


def physical_bits(text: str) -> str | None:
    """8 to 64, or `host`."""
    if text == "host" or (re.match(r"\d{1,2}$", text) and 8 <= int(text) <= 64):
        return None
    return "value must be an integer between 8 and 64 or 'host'"


def mount_path(text: str) -> str | None:
    """A path inside a container that leads nowhere else."""
    return f"{text} contains illegal character sequences" if _UPWARDS.search(text) else None


def device_path(text: str) -> str | None:
    """A path below /dev."""
    if text.startswith("/dev/") and not _DEVICE_UPWARDS.search(text):
        return None
    return f"{text} is not a valid device path"


def checkers() -> dict[str, Checker]:
    """The checkers of guests, by format.

    A time zone is judged by its look: which zones exist is a matter of each host's tables.
    """
    return {
        "pve-qm-bootdisk": boot_disk,
        "pve-qm-bootdev": boot_device,
        "pve-hotplug-features": hotplug_features,
        "pve-cpuset": cpu_set,
        "pve-phys-bits": physical_bits,
        "pve-lxc-mp-string": mount_path,
        "pve-lxc-dev-string": device_path,
        "pve-ct-timezone": like(_ZONE.pattern, "invalid time zone '{}'"),
    }
