"""Generate the table of presets for the lab: hosts, storages, bridges, devices, images, guests.

    python scripts/write_lab_presets.py

Reading a preset as a configuration takes longer than the rest of the start of a lab, which
therefore reads the table. Addresses are numbers in a network.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path
from urllib.parse import urlsplit

from stockman_lab.factory.state import FactoryState
from stockman_lab.world.staging import AGENT

from stockman.config.load import load
from stockman.config.presets import NETWORKS, PRESETS, render_preset
from stockman.config.resolve import resolve
from stockman.model.desired import Desired, Vm
from stockman.model.guest import Container, GuestVm
from stockman.model.problem import Problems
from stockman.model.proxmox import ProxmoxCluster
from stockman.talos.schematic import ImageSchematic, canonical_text, desired_schematic

PLACE = Path(__file__).parents[1] / "lab/src/stockman_lab/world/presets.json"
_FIRST_HOST = 4
"""Where hosts without an address of their own begin in the network."""

_DRIVERS = (
    "siderolabs/nvidia-container-toolkit-lts",
    "siderolabs/nvidia-open-gpu-kernel-modules-lts",
)


def read_preset(name: str) -> list[dict[str, object]]:
    """The Proxmox clusters of a preset, as JSON."""
    texts = render_preset(name)
    desired = resolve(load({file: text.encode() for file, text in texts.items()}))
    return [_cluster(name, desired, one) for one in desired.proxmox]


def _cluster(preset: str, desired: Desired, cluster: ProxmoxCluster) -> dict[str, object]:
    base = int(NETWORKS[preset].network_address)
    names = list(cluster.hosts) or sorted({str(vm.host) for vm in _machines(desired)})
    endpoint = urlsplit(cluster.endpoint or "").hostname or ""
    firsts: dict[str, int] = {}
    for number, name in enumerate(names):
        host, limits = desired.hosts.get(name), cluster.hosts.get(name)
        addresses = [one.address for one in (host, limits) if one is not None and one.address]
        firsts[name] = _place(addresses[0] if addresses else "", base) or _FIRST_HOST + number
    # The endpoint is that of the first host, unless one has that very address.
    first = _place(endpoint, base)
    if first and first not in firsts.values() and names:
        firsts[names[0]] = first
    return {
        "name": desired.cluster.name if desired.cluster is not None else str(cluster.region),
        "hosts": firsts,
        "storages": list(dict.fromkeys((*cluster.storages, *_storages(desired)))),
        "bridges": list(dict.fromkeys((*cluster.bridges, *_bridges(desired), "vmbr0"))),
        "vlans": _vlans(desired),
        "image_storage": cluster.image_storage or "local",
        "devices": list(_devices(desired)),
        "reservations": list(_reservations(desired, base)),
        "schematics": _schematics(desired),
        "images": list(_images(desired)),
        "guests": list(_residents(desired)),
    }


def _place(address: str, base: int) -> int:
    try:
        return int(IPv4Address(address)) - base
    except ValueError:
        return 0


def _devices(desired: Desired) -> Iterator[dict[str, object]]:
    for name, host in desired.hosts.items():
        passed = host.passthrough
        if passed is None:
            continue
        for one in passed.pci:
            yield {
                "host": name,
                "kind": "pci",
                "name": one.name,
                "address": one.address,
                "id": one.id or "",
                "description": one.description,
                "iommu": passed.iommu,
            }
        for usb in passed.usb:
            yield {
                "host": name,
                "kind": "usb",
                "name": usb.name,
                "id": usb.id,
                "description": usb.description,
            }


def _reservations(desired: Desired, base: int) -> Iterator[dict[str, object]]:
    """What the preset expects of its DHCP server: addresses that are kept for cards."""
    if desired.cluster is None or desired.cluster.network.addressing != "dhcp":
        return
    for node in desired.nodes:
        if node.vm is None or not node.vm.nics:
            continue
        first = node.vm.nics[0]
        yield {
            "mac": str(first.mac_addr).lower(),
            "place": int(node.address.ip) - base,
            "bridge": str(first.bridge),
            "vlan": first.vlan_id,
        }


def _schematics(desired: Desired) -> dict[str, str]:
    """What schematics stand for that are named by nothing but their ids.

    Nobody can tell what is in them, so each has what its nodes cannot do without.
    """
    values: dict[str, set[str]] = {}
    for node in desired.nodes:
        if desired_schematic(node.schematic, Problems()) is None:
            needed = values.setdefault(str(node.schematic.id), {AGENT})
            needed.update(_DRIVERS if "nvidia" in node.kernel_modules else ())
    known = FactoryState().schematics
    return {
        name: canonical_text(ImageSchematic(extensions=tuple(sorted(needed))))
        for name, needed in values.items()
        if name not in known
    }


def _images(desired: Desired) -> Iterator[dict[str, object]]:
    """Images that guests are made from, and that somebody brought to their hosts before."""
    for guest in desired.guests:
        if guest.manage == "full" and guest.vm is not None and guest.vm.image:
            yield {"host": str(guest.host), "volume": guest.vm.image.volume}


def _residents(desired: Desired) -> Iterator[dict[str, object]]:
    """Guests that stockman only looks at: somebody else made them before."""
    for guest in desired.guests:
        if guest.manage != "observe":
            continue
        common = {"vmid": int(guest.vmid), "onboot": 1}
        if guest.vm is not None:
            options = {**common, "name": str(guest.name), **_vm_options(guest.vm)}
            yield {"host": str(guest.host), "kind": "qemu", "options": options}
        elif guest.container is not None:
            options = {**common, "hostname": str(guest.name), **_container(guest.container)}
            yield {"host": str(guest.host), "kind": "lxc", "options": options}


def _vm_options(vm: GuestVm) -> dict[str, object]:
    """Hardware without devices of the host: nobody has mapped those yet."""
    values: dict[str, object] = {
        "cores": vm.cores,
        "memory": vm.memory,
        "cpu": vm.cpu_type,
        "scsihw": vm.scsihw,
        "scsi0": f"{vm.datastore}:{vm.disk_gb}",
        "boot": "order=scsi0",
        "ostype": "l26",
    }
    nics = {f"net{number}": f"virtio,bridge={nic.bridge}" for number, nic in enumerate(vm.nics)}
    return {**values, **nics}


def _container(container: Container) -> dict[str, object]:
    values: dict[str, object] = {
        "ostemplate": container.template,
        "cores": container.cores,
        "memory": container.memory,
        "rootfs": f"{container.datastore}:{container.disk_gb}",
        "unprivileged": int(container.unprivileged),
    }
    nics = {
        f"net{number}": f"name=eth{number},bridge={nic.bridge},ip=dhcp"
        for number, nic in enumerate(container.nics)
    }
    return {**values, **nics}


def _storages(desired: Desired) -> Iterator[str]:
    for vm in _machines(desired):
        yield str(vm.datastore)
        yield from (str(data_disk.datastore) for data_disk in vm.data_disks if data_disk.datastore)
    for guest in desired.guests:
        made = guest.vm or guest.container
        if made is not None:
            yield str(made.datastore)


def _bridges(desired: Desired) -> Iterator[str]:
    for vm in _machines(desired):
        yield from (str(nic.bridge) for nic in vm.nics)


def _vlans(desired: Desired) -> dict[str, list[int]]:
    """VLANs by bridge that the first cards of machines are in."""
    values: dict[str, set[int]] = {}
    for vm in _machines(desired):
        for nic in vm.nics[:1]:
            if nic.vlan_id:
                values.setdefault(str(nic.bridge), set()).add(int(nic.vlan_id))
    return {bridge: sorted(tags) for bridge, tags in values.items()}


def _machines(desired: Desired) -> Iterator[Vm]:
    for node in desired.nodes:
        if node.vm is not None:
            yield node.vm


def text() -> str:
    """The table."""
    return json.dumps({name: read_preset(name) for name in PRESETS}, indent=1) + "\n"


if __name__ == "__main__":
    PLACE.write_text(text())
