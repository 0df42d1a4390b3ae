"""Devices of the host in a guest: PCI, USB, serial ports, and what mappings say about them."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.pve.formats.checks import config_id, node_name
from stockman_lab.pve.formats.property_string import Format, Property, parse

_PCI = r"(?:[a-f0-9]{4,}:)?[a-f0-9]{2}:[a-f0-9]{2}(?:\.[a-f0-9])?"
_FULL_PCI = r"[a-f0-9]{4,}:[a-f0-9]{2}:[a-f0-9]{2}(?:\.[a-f0-9])?"
_USB_ID = "(0x)?([0-9A-Fa-f]{4}):(0x)?([0-9A-Fa-f]{4})"
_USB_PORT = r"(\d+)\-(\d+(\.\d+)*)"
_HEX = Property(pattern="0x[0-9a-fA-F]{4}")
_PRODUCT = "[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}"

PCI: Format = {
    "host": Property(default_key=True, pattern=f"{_PCI}(;{_PCI})*"),
    "mapping": Property(check=config_id),
    "rombar": Property(kind="boolean"),
    "romfile": Property(pattern="[^,;]+"),
    "pcie": Property(kind="boolean"),
    "x-vga": Property(kind="boolean"),
    "legacy-igd": Property(kind="boolean"),
    "mdev": Property(pattern=r"[^/\.:]+"),
    "vendor-id": _HEX,
    "device-id": _HEX,
    "sub-vendor-id": _HEX,
    "sub-device-id": _HEX,
    "driver": Property(enum=("vfio", "keep")),
}
USB: Format = {
    "host": Property(
        default_key=True, pattern=f"(?:(?:{_USB_ID})|(?:{_USB_PORT})|[Ss][Pp][Ii][Cc][Ee])"
    ),
    "mapping": Property(check=config_id),
    "usb3": Property(kind="boolean"),
}
PCI_MAP: Format = {
    "node": Property(required=True, check=node_name),
    "id": Property(required=True, pattern=_PRODUCT),
    "subsystem-id": Property(pattern=_PRODUCT),
    "path": Property(required=True, pattern=f"(?:{_FULL_PCI};)*{_FULL_PCI}"),
    "iommugroup": Property(kind="integer"),
    "description": Property(longest=4096),
}
USB_MAP: Format = {
    "node": Property(required=True, check=node_name),
    "id": Property(required=True, pattern=_PRODUCT),
    "path": Property(pattern=_USB_PORT),
    "description": Property(longest=4096),
}


@dataclass(frozen=True, slots=True)
class HostPci:
    """A PCI device of the host: by addresses, or by the name of a mapping."""

    addresses: tuple[str, ...]
    mapping: str
    pcie: bool
    primary_vga: bool
    mediated_type: str
    rom_file: str


@dataclass(frozen=True, slots=True)
class HostUsb:
    """A USB device of the host, a port of it, a mapping, or a door for SPICE clients."""

    host: str
    mapping: str

    @property
    def is_spice(self) -> bool:
        """Whether the client's devices are meant, not the host's."""
        return self.host.lower() == "spice"


def parse_pci(text: str) -> HostPci:
    """One `hostpciN`; raises `FormatError`."""
    found = parse(PCI, text)
    return HostPci(
        addresses=tuple(part for part in found.get("host", "").split(";") if part),
        mapping=found.get("mapping", ""),
        pcie=found.get("pcie") == "1",
        primary_vga=found.get("x-vga") == "1",
        mediated_type=found.get("mdev", ""),
        rom_file=found.get("romfile", ""),
    )


def parse_usb(text: str) -> HostUsb:
    """One `usbN`; raises `FormatError`."""
    found = parse(USB, text)
    return HostUsb(host=found.get("host", ""), mapping=found.get("mapping", ""))


def is_socket(serial: str) -> bool:
    """Whether a serial port ends in a socket and not in a device of the host."""
    return serial == "socket"
