"""`/nodes/NODE/hardware`: devices of a host."""

from __future__ import annotations

import re

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.host import PciDevice, UsbDevice
from stockman_lab.pve.mappings import entries_of

_PATH = "/nodes/{node}/hardware"
_HIDDEN = "05;06;0b"
"""Memory controllers, bridges and processors."""
_ADDRESS = re.compile(r"(?:[0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]")


@endpoint("GET", f"{_PATH}/pci")
def pci(call: Call) -> object:
    hidden = split_list(call.text("pci-class-blacklist", _HIDDEN))
    verbose = call.flag("verbose", default=True)
    return [
        _pci_row(device, verbose=verbose)
        for device in sorted(call.node.pci, key=lambda one: one.id)
        if not any(device.device_class.startswith(f"0x{prefix}") for prefix in hidden)
    ]


@endpoint("GET", f"{_PATH}/pci/{{pci-id-or-mapping}}/mdev")
def mediated(call: Call) -> object:
    """Kinds of mediated devices: those that a card with support for them would offer."""
    name = call.text("pci-id-or-mapping")
    if _ADDRESS.fullmatch(name):
        paths = [name if name.count(":") > 1 else f"0000:{name}"]
    else:
        section = call.cluster.state.mappings.get("pci", {}).get(name)
        entries = entries_of(section, call.node.name) if section is not None else ()
        paths = [entry["path"] for entry in entries]
    able = [one for one in call.node.pci if one.id in paths and one.mdev]
    return [
        {
            "type": "nvidia-256",
            "name": "GRID T4-1Q",
            "available": 16,
            "description": "max_instance=16",
        }
        for _ in able[:1]
    ]


@endpoint("GET", f"{_PATH}/usb")
def usb(call: Call) -> object:
    return [_usb_row(device) for device in call.node.usb]


def _pci_row(device: PciDevice, *, verbose: bool) -> dict[str, object]:
    row: dict[str, object] = {
        "id": device.id,
        "vendor": device.vendor,
        "device": device.device,
        "class": device.device_class,
        "iommugroup": device.iommugroup,
    }
    if device.mdev:
        row["mdev"] = 1
    if not verbose:
        return row
    names = {
        "vendor_name": device.vendor_name,
        "device_name": device.device_name,
        "subsystem_vendor": device.subsystem_vendor,
        "subsystem_device": device.subsystem_device,
    }
    return row | {key: value for key, value in names.items() if value}


def _usb_row(device: UsbDevice) -> dict[str, object]:
    row: dict[str, object] = {
        "busnum": device.busnum,
        "devnum": device.devnum,
        "class": device.device_class,
        "level": device.level,
        "port": device.port,
        "usbpath": device.usbpath.rpartition("-")[2],
        "vendid": device.vendid.removeprefix("0x"),
        "prodid": device.prodid.removeprefix("0x"),
        "speed": device.speed,
    }
    names = {
        "manufacturer": device.manufacturer,
        "product": device.product,
        "serial": device.serial,
    }
    return row | {key: value for key, value in names.items() if value}
