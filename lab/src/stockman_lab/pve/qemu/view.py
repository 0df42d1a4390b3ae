"""A virtual machine as what runs in it sees it: made of its configuration and of its volumes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from functools import lru_cache

from stockman_lab.guest.network import NicView
from stockman_lab.guest.view import DiskView, GuestView, PciView, SmbiosView
from stockman_lab.images.facts import CorruptImage
from stockman_lab.images.image import Form, Image, read_image
from stockman_lab.images.iso_files import read_iso
from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.formats.boot import boot_order, default_order
from stockman_lab.pve.formats.drive import Drive
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.hardware import current_memory, parse_smbios
from stockman_lab.pve.formats.nic import parse_nic
from stockman_lab.pve.formats.sizes import MIB
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.keys import index_of
from stockman_lab.pve.guest_rows import cpus_of
from stockman_lab.pve.host import Host, PciDevice
from stockman_lab.pve.qemu.cloud_init_drive import kept_files
from stockman_lab.pve.qemu.drives import drives_of
from stockman_lab.pve.qemu.hardware_checks import given_devices

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
