"""What binds a virtual machine to its host: disks and devices that no other host has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.formats.drive import is_unused
from stockman_lab.pve.formats.hardware import is_socket, parse_pci, parse_usb
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.qemu.drives import drives_of
from stockman_lab.pve.qemu.shelf import Shelf


@dataclass(slots=True)
class LocalDisk:
    """A volume that only the machine's host sees."""

    volid: str
    size: int = 0
    used: int = 0
    key: str = ""
    is_cdrom: bool = False
    is_cloud_init: bool = False
    is_unused: bool = False
    is_attached: bool = False


def local_disks(shelf: Shelf, guest: Guest) -> list[LocalDisk]:
    """Volumes of a machine on storages that are not shared, each once, sorted."""
    config = guest.config
    found: dict[str, LocalDisk] = {}
    for values in (*config.snapshots.values(), config.pending, config.values):
        for drive in drives_of(values):
            if not drive.volume or shelf.is_shared(drive.volume):
                continue
            if drive.options.get("shared") == "1":
                continue
            found[drive.volume] = LocalDisk(
                drive.volume,
                key=drive.key,
                is_cdrom=drive.is_cdrom,
                is_cloud_init=drive.is_cloud_init,
                is_attached=values is config.values and drive.key != "tpmstate0",
            )
        kept = [values[key] for key in values if is_unused(key) or key == "vmstate"]
        for volid in kept:
            if not shelf.is_shared(volid):
                found.setdefault(volid, LocalDisk(volid, is_unused=True))
    for one in found.values():
        volume = shelf.find(one.volid)
        if volume is not None:
            one.size, one.used = volume.size, volume.used
    return [found[volid] for volid in sorted(found)]


def bound_to_host(values: Mapping[str, str]) -> list[str]:
    """Devices of the host that the machine uses by themselves, not by a mapping; sorted."""
    return [key for key in sorted(values) if _is_bound(key, values[key])]


def _is_bound(key: str, value: str) -> bool:
    if is_indexed(key, "hostpci"):
        return not parse_pci(value).mapping
    if is_indexed(key, "usb"):
        device = parse_usb(value)
        return not device.is_spice and not device.mapping
    if is_indexed(key, "serial"):
        return not is_socket(value)
    return is_indexed(key, "parallel") or key == "ivshmem"


def held_while_running(
    values: Mapping[str, str], mappings: Mapping[str, Mapping[str, Section]]
) -> list[str]:
    """Keys of a machine with mapped devices that do not go with it while it runs; sorted."""
    return [
        key
        for key, (kind, name) in mapped_resources(values).items()
        if not is_live(mappings, kind, name)
    ]


def is_live(mappings: Mapping[str, Mapping[str, Section]], kind: str, name: str) -> bool:
    """Whether devices of a mapping take part in a live migration; those of USB never do."""
    found = mappings.get(kind, {}).get(name)
    live_migration_capable = (
        found.options.get("live-migration-capable") if found is not None else None
    )
    return kind == "pci" and str(live_migration_capable) == "1"


def is_mapped_on(
    mappings: Mapping[str, Mapping[str, Section]], kind: str, name: str, host: str
) -> bool:
    """Whether a mapping has a device on a host."""
    found = mappings.get(kind, {}).get(name)
    entries = found.lists.get("map", []) if found is not None else []
    return any(f"node={host}" in entry.split(",") for entry in entries)


def mapped_resources(values: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Kind and name of the mappings that keys of a machine use."""
    found = {}
    for key in sorted(values):
        if is_indexed(key, "hostpci") and parse_pci(values[key]).mapping:
            found[key] = ("pci", parse_pci(values[key]).mapping)
        elif is_indexed(key, "usb") and parse_usb(values[key]).mapping:
            found[key] = ("usb", parse_usb(values[key]).mapping)
    return found
