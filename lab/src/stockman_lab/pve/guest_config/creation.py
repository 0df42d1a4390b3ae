"""Configurations of guests that are just being made: from a request, or from another guest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stockman_lab.pve.formats.boot import default_order, print_order
from stockman_lab.pve.formats.drive import is_unused
from stockman_lab.pve.formats.hardware import (
    check_vga,
    clone_smbios,
    new_smbios,
    pin_machine,
    print_meta,
)
from stockman_lab.pve.formats.nic import DEFAULT_PREFIX, Throws, renew_nic
from stockman_lab.pve.guest_config.keys import is_indexed, machine_value

NOT_CLONED = frozenset(
    {
        *("parent", "snaptime", "vmstate", "snapstate", "lock", "template"),
        *("runningcpu", "runningmachine", "running-nets-host-mtu"),
    }
)


@dataclass(frozen=True, slots=True)
class Maker:
    """What making a guest takes from its world."""

    dice: Throws
    now: int
    """Seconds since 1970."""
    qemu_version: str = "9.2.0"
    mac_prefix: str = DEFAULT_PREFIX

    @property
    def machine_version(self) -> tuple[int, int]:
        """Major and minor version of QEMU."""
        major, minor = self.qemu_version.split(".")[:2]
        return int(major), int(minor)


def new_machine(sets: Mapping[str, str], maker: Maker) -> dict[str, str]:
    """Values of a new virtual machine whose disks are made: what nobody chose is filled in."""
    values = {**sets, "meta": print_meta(maker.qemu_version, maker.now)}
    if not values.get("boot"):
        values["boot"] = print_order(default_order(values))
    check_vga(values.get("vga", ""))
    if not values.get("smbios1"):
        values["smbios1"] = new_smbios(maker.dice)
    if values.get("vmgenid", "1") == "1":
        values["vmgenid"] = maker.dice.uuid()
    machine = pin_machine(
        values.get("machine", ""), values.get("ostype", ""), maker.machine_version
    )
    if machine:
        values["machine"] = machine
    return {key: machine_value(key, value) for key, value in values.items()}


def clone_values(values: Mapping[str, str], maker: Maker) -> dict[str, str]:
    """Values of a clone, still with the drives of the original: other cards, another identity."""
    kept = {
        key: value for key, value in values.items() if key not in NOT_CLONED and not is_unused(key)
    }
    for key in sorted(kept):
        if is_indexed(key, "net"):
            kept[key] = str(renew_nic(kept[key], maker.dice, maker.mac_prefix))
    kept["smbios1"] = clone_smbios(kept.get("smbios1", ""), maker.dice)
    if kept.get("vmgenid", "0") != "0":
        kept["vmgenid"] = maker.dice.uuid()
    return {"lock": "clone", **kept}
