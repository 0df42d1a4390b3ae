"""Hardware of a virtual machine: CPU, memory, board, firmware, display, agent and host devices."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.nic import Throws
from stockman_lab.pve.formats.property_string import (
    DEFAULT_KEY,
    REQUIRED_DEFAULT_KEY,
    Format,
    Property,
    booleans,
    parse,
    print_properties,
)

SMBIOS: Format = booleans("base64")


def parse_smbios(text: str) -> dict[str, str]:
    """The fields; raises `FormatError`."""
    return parse(SMBIOS, text)


def new_smbios(dice: Throws) -> str:
    """Fields of a new machine: only its UUID."""
    return f"uuid={dice.uuid()}"


def clone_smbios(text: str, dice: Throws) -> str:
    """Fields of a clone: the same with a new UUID, printed in canonical order."""
    return print_properties(SMBIOS, {**parse_smbios(text), "uuid": dice.uuid()})


_WITH_CLIPBOARD = ("std", "cirrus", "vmware", "virtio", "qxl")

AGENT: Format = {
    "enabled": Property(kind="boolean", required=True, default_key=True),
    "freeze-fs-on-backup": Property(alias="freeze-fs"),
    "guest-fsfreeze": Property(alias="freeze-fs"),
    **booleans("fstrim_cloned_disks freeze-fs"),
}
CPU: Format = {"cputype": DEFAULT_KEY, **booleans("hidden")}
MACHINE: Format = {"type": DEFAULT_KEY, **booleans("enable-s3 enable-s4")}
VGA: Format = {"type": DEFAULT_KEY}
MEMORY: Format = {"current": REQUIRED_DEFAULT_KEY}
RNG: Format = {"source": REQUIRED_DEFAULT_KEY}
VIRTIOFS: Format = {
    "dirid": REQUIRED_DEFAULT_KEY,
    **booleans("direct-io expose-xattr expose-acl"),
}

DEFAULT_MEMORY = 512


def is_agent_enabled(text: str) -> bool:
    """Whether the key `agent` enables the agent; raises `FormatError`."""
    return bool(text) and parse(AGENT, text)["enabled"] == "1"


def custom_cpu_model(text: str) -> str:
    """The name of a model of the cluster's own in the key `cpu`, or nothing."""
    model = parse(CPU, text).get("cputype", "") if text else ""
    return model.removeprefix("custom-") if model.startswith("custom-") else ""


def is_q35(text: str) -> bool:
    """Whether the key `machine` names a mainboard with PCI Express; raises `FormatError`."""
    return "q35" in parse(MACHINE, text).get("type", "")


def display_type(text: str) -> str:
    """The type in the key `vga`; raises `FormatError`."""
    return parse(VGA, text).get("type", "std")


def current_memory(text: str) -> int:
    """MiB of the key `memory`; the default where it is not set. Raises `FormatError`."""
    return int(parse(MEMORY, text)["current"]) if text else DEFAULT_MEMORY


def print_meta(qemu_version: str, created_at: int) -> str:
    """What is written down about the making of a machine."""
    return f"creation-qemu={qemu_version},ctime={created_at}"


def canonical_machine_type(text: str) -> str:
    """The key `machine` in canonical form; refuses a machine that cannot have its IOMMU."""
    options = parse(MACHINE, text)
    if options.get("viommu") == "intel" and not is_q35(text):
        raise die("to use Intel vIOMMU please set the machine type to q35")
    return print_properties(MACHINE, options)


def check_vga(text: str) -> None:
    """Refuses a display that cannot have its clipboard; raises `FormatError` on bad text."""
    found = parse(VGA, text)
    kind = found.get("type", "")
    if found.get("clipboard") == "vnc" and kind and not kind.startswith(_WITH_CLIPBOARD):
        raise die(f"vga type {kind} is not compatible with VNC clipboard")


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
