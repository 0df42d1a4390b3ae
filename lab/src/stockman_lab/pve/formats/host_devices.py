"""Devices of the host in a guest: PCI, USB, serial ports, and what mappings say about them."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.pve.formats.property_string import DEFAULT_KEY, Format, booleans, parse

PCI: Format = {"host": DEFAULT_KEY, **booleans("rombar pcie x-vga legacy-igd")}
USB: Format = {"host": DEFAULT_KEY, **booleans("usb3")}
MAPPING: Format = {}


@dataclass(frozen=True, slots=True)
class HostPci:
    """A PCI device of the host: by addresses, or by the name of a mapping."""

    addresses: tuple[str, ...]
    mapping: str
    pcie: bool
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
        rom_file=found.get("romfile", ""),
    )


def parse_usb(text: str) -> HostUsb:
    """One `usbN`; raises `FormatError`."""
    found = parse(USB, text)
    return HostUsb(host=found.get("host", ""), mapping=found.get("mapping", ""))


def is_socket(serial: str) -> bool:
    """Whether a serial port ends in a socket and not in a device of the host."""
    return serial == "socket"
