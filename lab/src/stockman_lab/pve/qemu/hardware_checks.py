"""What a host has to have so that a machine can start on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.hardware import MAPPING, current_memory, is_q35, parse_pci, parse_usb
from stockman_lab.pve.formats.nic import parse_nic
from stockman_lab.pve.formats.property_string import parse
from stockman_lab.pve.formats.sizes import MIB
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.guest_rows import memory_of
from stockman_lab.pve.host import Host
from stockman_lab.pve.qemu.drives import drives_of

START_FAILED = "start failed: QEMU exited with code 1"


def check_hardware(cluster: Cluster, guest: Guest, host: Host, log: Callable[[str], None]) -> None:
    """Refuse to start what the host does not have everything for."""
    values = guest.config.values
    cpus = int(values.get("sockets", "1")) * int(values.get("cores", "1"))
    if cpus > host.cpus:
        raise die(f"MAX {host.cpus} vcpus allowed per VM on this node")
    for drive in drives_of(values):
        if drive.volume:
            space.usable(cluster, drive.volume.partition(":")[0], host)
            if space.find(cluster, host.name, drive.volume) is None:
                raise die(f"volume '{drive.volume}' does not exist")
    for key in sorted(values):
        if is_indexed(key, "hostpci"):
            _check_pci(cluster, host, values, values[key])
        elif is_indexed(key, "usb"):
            _check_usb(cluster, host, values[key])
    taken = {
        address: other.vmid
        for other in cluster.guests_on(host.name, "qemu")
        if other.is_running and other is not guest
        for _, address in given_devices(cluster, host, other)
    }
    for _, address in given_devices(cluster, host, guest):
        if address in taken:
            raise die(f"PCI device '{address}' already in use by VMID '{taken[address]}'")
    _check_memory(cluster, guest, host, log)
    for key in sorted(values):
        bridge = parse_nic(values[key]).bridge if is_indexed(key, "net") else ""
        if bridge and bridge not in host.interfaces:
            log(f"bridge '{bridge}' does not exist")
            raise die(START_FAILED)


def _check_memory(cluster: Cluster, guest: Guest, host: Host, log: Callable[[str], None]) -> None:
    used = sum(memory_of(one) for one in cluster.guests_on(host.name) if one.is_running)
    wanted = current_memory(guest.config.values.get("memory", "")) * MIB
    if used + wanted > host.memory + host.swap:
        log("kvm: cannot set up guest memory 'pc.ram': Cannot allocate memory")
        raise die(START_FAILED)


def _check_pci(cluster: Cluster, host: Host, values: dict[str, str], text: str) -> None:
    device = parse_pci(text)
    if device.pcie and not is_q35(values.get("machine", "")):
        raise die("q35 machine model is not enabled")
    if device.mapping:
        if not list(_mapping_entries(cluster, host, "pci", device.mapping)):
            raise die(f"PCI device mapping not found for '{device.mapping}'")
        return
    known = {one.id for one in host.pci}
    for address in device.addresses:
        full = address if address.count(":") > 1 else f"0000:{address}"
        if not any(one.startswith(full) for one in known):
            raise die(f"no PCI device found for '{address}'")


def _check_usb(cluster: Cluster, host: Host, text: str) -> None:
    device = parse_usb(text)
    if device.mapping and not list(_mapping_entries(cluster, host, "usb", device.mapping)):
        raise die(f"USB device mapping not found for '{device.mapping}'")


def _mapping_entries(
    cluster: Cluster, host: Host, kind: str, name: str
) -> Iterator[dict[str, str]]:
    section = cluster.state.mappings.get(kind, {}).get(name)
    for text in section.lists.get("map", []) if section is not None else []:
        entry = parse(MAPPING, text)
        if entry["node"] == host.name:
            yield entry


def given_devices(cluster: Cluster, host: Host, guest: Guest) -> list[tuple[int, str]]:
    """PCI devices that a machine takes for itself: its slots, and addresses on the host.

    Of a mapping with several devices it is none for sure.
    """
    found: list[tuple[int, str]] = []
    for key, value in guest.config.values.items():
        if not is_indexed(key, "hostpci"):
            continue
        device = parse_pci(value)
        mapped = (
            list(_mapping_entries(cluster, host, "pci", device.mapping)) if device.mapping else []
        )
        slot = int(key.removeprefix("hostpci"))
        if len(mapped) == 1:
            found.append((slot, mapped[0]["path"]))
        found.extend((slot, address) for address in device.addresses)
    return found
