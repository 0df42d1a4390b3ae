"""A virtual machine as what runs in it sees it, and what a host needs so that it can start."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from stockman_lab.guest.network import NicView
from stockman_lab.guest.view import DiskView, GuestView, PciView, SmbiosView
from stockman_lab.images.facts import CorruptImage
from stockman_lab.images.image import Form, Image, read_image
from stockman_lab.images.iso_files import read_iso
from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.drive import Drive, boot_order, default_order
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.hardware import (
    MAPPING,
    current_memory,
    is_q35,
    parse_pci,
    parse_smbios,
    parse_usb,
)
from stockman_lab.pve.formats.nic import parse_nic
from stockman_lab.pve.formats.property_string import parse
from stockman_lab.pve.formats.sizes import MIB
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.keys import index_of, is_indexed
from stockman_lab.pve.guest_rows import cpus_of, memory_of
from stockman_lab.pve.host import Host, PciDevice
from stockman_lab.pve.qemu.cloud_init_drive import kept_files
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


_BOOTABLE_MTU = 1500
_LABELS = frozenset({"cidata", "CIDATA", "config-2"})


def guest_view(cluster: Cluster, guest: Guest) -> GuestView:
    """The machine with what it has now."""
    values = guest.config.values
    drives = drives_of(values)
    return GuestView(
        vmid=guest.vmid,
        cores=cpus_of(guest),
        memory=current_memory(values.get("memory", "")) * MIB,
        network=cluster.around.network,
        cluster=cluster.name,
        node=guest.node,
        name=guest.name,
        is_uefi=values.get("bios") == "ovmf",
        disks=[
            _disk(cluster, guest, drive)
            for drive in drives
            if drive.bus in ("ide", "scsi", "virtio", "sata")
        ],
        nics=_nics(values),
        pci=_pci(cluster, guest),
        smbios=_smbios(values.get("smbios1", "")),
        boot_order=_order(values),
        cloud_init=_cloud_init(cluster, guest, drives),
        architecture="arm64" if values.get("arch") == "aarch64" else "amd64",
    )


def _disk(cluster: Cluster, guest: Guest, drive: Drive) -> DiskView:
    volume = space.find(cluster, guest.node, drive.volume) if drive.volume else None
    if volume is None:
        return DiskView(slot=drive.key, size=0, is_cdrom=drive.is_cdrom)
    return DiskView(
        slot=drive.key,
        size=volume.size,
        image=_image(cluster.around.blobs.get(volume.blob)) if volume.blob else None,
        contents=volume.contents,
        is_cdrom=drive.is_cdrom,
        serial=drive.options.get("serial", ""),
    )


@lru_cache(maxsize=64)
def _image(content: bytes) -> Image | None:
    try:
        return read_image(content)
    except CorruptImage:
        return None


def _nics(values: Mapping[str, str]) -> list[NicView]:
    nic_views = []
    for key in values:
        number = index_of(key, "net")
        if number is None:
            continue
        nic = parse_nic(values[key])
        nic_views.append(
            NicView(
                number=number,
                mac=nic.mac,
                bridge=nic.bridge,
                vlan=nic.tag,
                model=nic.model,
                is_linked=not nic.is_down,
                mtu=max(int(nic.options.get("mtu", "0")), 0) or _BOOTABLE_MTU,
            )
        )
    return sorted(nic_views, key=lambda one: one.number)


def _pci(cluster: Cluster, guest: Guest) -> list[PciView]:
    host = cluster.state.hosts.get(guest.node)
    if host is None:
        return []
    return [
        PciView(
            slot=slot,
            vendor=device.vendor,
            device=device.device,
            device_class=device.device_class,
            vendor_name=device.vendor_name,
            device_name=device.device_name,
        )
        for slot, address in given_devices(cluster, host, guest)
        if (device := _device(host, address)) is not None
    ]


def _device(host: Host, address: str) -> PciDevice | None:
    """The first function of a device."""
    full = address if address.count(":") > 1 else f"0000:{address}"
    return next((one for one in host.pci if one.id.startswith(full)), None)


def _smbios(text: str) -> SmbiosView:
    try:
        smbios = parse_smbios(text)
    except FormatError:
        return SmbiosView()
    encoded = smbios.pop("base64", "0") == "1"
    known = {
        name: _plain(value) if encoded and name != "uuid" else value
        for name, value in smbios.items()
    }
    return SmbiosView(**known)


def _plain(value: str) -> str:
    try:
        return base64.b64decode(value).decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return value


def _order(values: Mapping[str, str]) -> list[str]:
    text = values.get("boot", "")
    try:
        order = boot_order(text) if text.strip() else []
    except FormatError:
        order = []
    if order or text.strip().startswith("order="):
        return order
    return [values["bootdisk"]] if values.get("bootdisk") else default_order(values)


def _cloud_init(cluster: Cluster, guest: Guest, drives: list[Drive]) -> dict[str, bytes] | None:
    for drive in drives:
        volume = space.find(cluster, guest.node, drive.volume) if drive.is_cdrom else None
        if volume is None:
            continue
        if drive.is_cloud_init:
            return kept_files(volume)
        files = _labelled_files(cluster.around.blobs.get(volume.blob)) if volume.blob else None
        if files is not None:
            return files
    return None


@lru_cache(maxsize=16)
def _labelled_files(content: bytes) -> dict[str, bytes] | None:
    """Files of an image that is labelled for cloud-init."""
    image = _image(content)
    if image is None or image.form is not Form.ISO:
        return None
    try:
        found = read_iso(content)
    except CorruptImage:
        return None
    return dict(found.files) if found.label in _LABELS else None
