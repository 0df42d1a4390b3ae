"""Files under `/sys`: links, disks, firmware, and groups of processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.figures.disk_io import block_devices
from stockman_lab.talos.figures.network_io import link_names, network_figures
from stockman_lab.talos.figures.partitions import system_partitions
from stockman_lab.talos.figures.sizes import device_sizes
from stockman_lab.talos.files.cgroups import add_cgroups

if TYPE_CHECKING:
    from stockman_lab.talos.files.tree import Tree
    from stockman_lab.talos.machine import Machine

_PAGE = 4096
_COUNTED = ("rx_bytes", "rx_packets", "tx_bytes", "tx_packets")


def add_sys(tree: Tree, machine: Machine) -> None:
    """Files of the kernel's view of hardware; all of them tell one page as their size."""
    _add_links(tree, machine)
    _add_disks(tree, machine)
    view = machine.view
    told = {
        "product_uuid": view.smbios.uuid,
        "product_serial": view.smbios.serial,
        "product_name": view.smbios.product,
        "sys_vendor": view.smbios.manufacturer,
    }
    for name, value in told.items():
        _value(tree, f"/sys/devices/virtual/dmi/id/{name}", value)
    tree.link("/sys/class/dmi/id", "../../devices/virtual/dmi/id")
    for number in range(max(machine.state.cores, 1)):
        _value(tree, f"/sys/devices/system/cpu/cpu{number}/topology/core_id", str(number))
    _value(tree, "/sys/devices/system/cpu/online", _range(machine.state.cores))
    if view.is_uefi:
        _value(tree, "/sys/firmware/efi/fw_platform_size", "64")
        tree.directory("/sys/firmware/efi/efivars")
    add_cgroups(tree, machine)


def _add_links(tree: Tree, machine: Machine) -> None:
    counters = {
        str(network_figure["name"]): network_figure for network_figure in network_figures(machine)
    }
    known = {one.name: one for one in machine.state.network.links}
    for place, name in enumerate(link_names(machine), start=1):
        link = known.get(name)
        is_card = link is not None and link.nic >= 0
        bus = link.bus_path if link is not None and link.bus_path else f"0000:00:{17 + place:02x}.0"
        above = f"pci0000:00/{bus}/virtio{place}" if is_card else "virtual"
        folder = f"/sys/devices/{above}/net/{name}"
        is_up = link is None or link.is_up
        told = {
            "address": link.mac if link is not None and link.mac else "00:00:00:00:00:00",
            "mtu": str(link.mtu if link is not None and name != "lo" else 65536),
            "ifindex": str(link.index if link is not None else place),
            "operstate": "unknown" if name == "lo" else "up" if is_up else "down",
            "carrier": str(int(is_up)),
        }
        for file, value in told.items():
            _value(tree, f"{folder}/{file}", value)
        for counter in _COUNTED:
            _value(tree, f"{folder}/statistics/{counter}", str(counters[name][counter]))
        tree.link(f"/sys/class/net/{name}", f"../../devices/{above}/net/{name}")


def _add_disks(tree: Tree, machine: Machine) -> None:
    sizes = device_sizes(machine)
    parents = {partition.name: partition.disk for partition in system_partitions(machine)}
    for name, major, minor in block_devices(machine):
        parent = parents.get(name)
        place = f"{parent}/{name}" if parent else name
        above = "virtual" if name.startswith("loop") else "pci0000:00/0000:00:05.0/virtio1"
        folder = f"/sys/devices/{above}/block/{place}"
        _value(tree, f"{folder}/dev", f"{major}:{minor}")
        _value(tree, f"{folder}/size", str(sizes.get(name, 0) // 512))
        tree.link(f"/sys/dev/block/{major}:{minor}", f"../../devices/{above}/block/{place}")
        if not parent:
            tree.link(f"/sys/block/{name}", f"../devices/{above}/block/{place}")
        tree.link(f"/sys/class/block/{name}", f"../../devices/{above}/block/{place}")


def _value(tree: Tree, path: str, value: str) -> None:
    tree.file(path, f"{value}\n", 0o444, size=_PAGE)


def _range(cores: int) -> str:
    return "0" if cores <= 1 else f"0-{cores - 1}"
