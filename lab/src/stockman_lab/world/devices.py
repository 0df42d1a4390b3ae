"""Devices of hosts, made of what a preset says of them."""

from __future__ import annotations

from typing import Any

from stockman_lab.pve.host import PciDevice, UsbDevice

_VENDORS = {
    "0x10de": ("NVIDIA Corporation", "0x2571", "GA106 [RTX A2000 12GB]"),
    "0x1002": ("Advanced Micro Devices, Inc. [AMD/ATI]", "0x73ff", "Navi 23 [Radeon RX 6600]"),
    "0x8086": ("Intel Corporation", "0x4680", "AlderLake-S GT1"),
}


def built_in_pci() -> list[PciDevice]:
    """What every host has on its board."""
    intel = "Intel Corporation"
    return [
        PciDevice("0000:00:00.0", "0x8086", "0x4668", intel, "12th Gen Core Processor Host Bridge",
                  device_class="0x060000", iommugroup=100),
        PciDevice("0000:00:14.0", "0x8086", "0x7ae0", intel, "Alder Lake-S PCH USB 3.2 Controller",
                  device_class="0x0c0330", iommugroup=101),
        PciDevice("0000:00:17.0", "0x8086", "0x7ae2", intel, "Alder Lake-S PCH SATA Controller",
                  device_class="0x010601", iommugroup=102),
        PciDevice("0000:00:1f.6", "0x8086", "0x1a1d", intel, "Ethernet Connection (17) I219-V",
                  device_class="0x020000", iommugroup=103),
    ]  # fmt: skip


def pci_device(entry: dict[str, Any], group: int) -> PciDevice:
    """The device of a PCI mapping; its maker is told by the name where no id is given."""
    vendor, _, device = entry["id"].partition(":")
    maker = f"0x{vendor}" if vendor else _maker(entry)
    name, usual, usual_name = _VENDORS.get(maker, ("", "0x0000", ""))
    address = entry["address"]
    return PciDevice(
        id=address if "." in address else f"{address}.0",
        vendor=maker,
        device=f"0x{device}" if device else usual,
        vendor_name=name,
        device_name=usual_name,
        iommugroup=group if entry["iommu"] else -1,
    )


def usb_device(entry: dict[str, Any], number: int) -> UsbDevice:
    """The device of a USB mapping."""
    vendor, _, product = entry["id"].partition(":")
    return UsbDevice(
        busnum=1,
        devnum=number + 1,
        usbpath=f"{number}",
        vendid=f"0x{vendor}",
        prodid=f"0x{product}",
        product=entry["description"],
        port=number,
    )


def _maker(entry: dict[str, Any]) -> str:
    said = f"{entry['name']} {entry['description']}".lower()
    if "amd" in said or "radeon" in said:
        return "0x1002"
    return "0x8086" if "intel" in said else "0x10de"
