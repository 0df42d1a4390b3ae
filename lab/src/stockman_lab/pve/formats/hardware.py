"""Hardware of a virtual machine as one looks at it: CPU, memory, machine, display, agent."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.checks import config_id, physical_bits
from stockman_lab.pve.formats.property_string import Format, Property, parse, print_properties

_WITH_CLIPBOARD = ("std", "cirrus", "vmware", "virtio", "qxl")
_BOOLEAN = Property(kind="boolean")
_VERSION = r"\d+(\.\d+)+(\+pve\d+)?"

AGENT: Format = {
    "enabled": Property(kind="boolean", required=True, default_key=True),
    "fstrim_cloned_disks": _BOOLEAN,
    "freeze-fs-on-backup": Property(alias="freeze-fs"),
    "guest-fsfreeze": Property(alias="freeze-fs"),
    "freeze-fs": _BOOLEAN,
    "type": Property(enum=("virtio", "isa")),
}
CPU: Format = {
    "cputype": Property(default_key=True),
    "reported-model": Property(),
    "hidden": _BOOLEAN,
    "hv-vendor-id": Property(pattern="[a-zA-Z0-9]{1,12}"),
    "flags": Property(pattern=r"[+-][a-zA-Z0-9\-_\.]+(;[+-][a-zA-Z0-9\-_\.]+)*"),
    "guest-phys-bits": Property(kind="integer", minimum=32, maximum=64),
    "phys-bits": Property(check=physical_bits),
    "level": Property(kind="integer", minimum=0, maximum=4294967295),
}
MACHINE: Format = {
    "type": Property(
        default_key=True,
        longest=40,
        pattern=(
            rf"(pc|pc(-i440fx)?-{_VERSION}(\.pxe)?|q35|pc-q35-{_VERSION}(\.pxe)?"
            r"|virt(?:-\d+(\.\d+)+)?(\+pve\d+)?)"
        ),
    ),
    "viommu": Property(enum=("intel", "virtio")),
    "aw-bits": Property(kind="number", minimum=32, maximum=64),
    "enable-s3": _BOOLEAN,
    "enable-s4": _BOOLEAN,
}
VGA: Format = {
    "type": Property(
        default_key=True,
        enum=(
            *("cirrus", "qxl", "qxl2", "qxl3", "qxl4", "none"),
            *("serial0", "serial1", "serial2", "serial3"),
            *("std", "virtio", "virtio-gl", "vmware"),
        ),
    ),
    "memory": Property(kind="integer", minimum=4, maximum=512),
    "clipboard": Property(enum=("vnc",)),
}
MEMORY: Format = {"current": Property(kind="integer", required=True, default_key=True, minimum=16)}
RNG: Format = {
    "source": Property(
        required=True, default_key=True, enum=("/dev/urandom", "/dev/random", "/dev/hwrng")
    ),
    "max_bytes": Property(kind="integer"),
    "period": Property(kind="integer"),
}
VIRTIOFS: Format = {
    "dirid": Property(required=True, default_key=True, check=config_id),
    "cache": Property(enum=("auto", "always", "metadata", "never")),
    "direct-io": _BOOLEAN,
    "expose-xattr": _BOOLEAN,
    "expose-acl": _BOOLEAN,
}
META: Format = {
    "ctime": Property(kind="integer", minimum=0),
    "creation-qemu": Property(pattern=r"\d+(\.\d+)+"),
}

DEFAULT_MEMORY = 512
DEFAULT_CPU = "kvm64"


@dataclass(frozen=True, slots=True)
class Agent:
    """How the host talks with the guest's agent."""

    enabled: bool
    trims_clones: bool
    freezes: bool
    kind: str


@dataclass(frozen=True, slots=True)
class Cpu:
    """Which CPU the guest sees."""

    model: str
    flags: tuple[str, ...]
    hidden: bool

    @property
    def custom_model(self) -> str:
        """The name of a model of the cluster's own, or nothing."""
        return self.model.removeprefix("custom-") if self.model.startswith("custom-") else ""


@dataclass(frozen=True, slots=True)
class Machine:
    """Which mainboard the guest sees."""

    kind: str
    viommu: str

    @property
    def is_q35(self) -> bool:
        """Whether it has PCI Express."""
        return "q35" in self.kind


@dataclass(frozen=True, slots=True)
class Vga:
    """Which display the guest sees."""

    kind: str
    memory: int | None
    """MiB; None: the default of the display."""


def parse_agent(text: str) -> Agent:
    """The key `agent`; raises `FormatError`. A disabled one has no other settings."""
    found = parse(AGENT, text) if text else {}
    if found.get("enabled") != "1":
        found = {}
    return Agent(
        enabled=bool(found),
        trims_clones=found.get("fstrim_cloned_disks") == "1",
        freezes=bool(found) and found.get("freeze-fs") != "0",
        kind=found.get("type", "virtio"),
    )


def parse_cpu(text: str) -> Cpu:
    """The key `cpu`; raises `FormatError`."""
    found = parse(CPU, text)
    return Cpu(
        model=found.get("cputype", DEFAULT_CPU),
        flags=tuple(flag for flag in found.get("flags", "").split(";") if flag),
        hidden=found.get("hidden") == "1",
    )


def parse_machine(text: str) -> Machine:
    """The key `machine`; raises `FormatError`."""
    found = parse(MACHINE, text)
    return Machine(kind=found.get("type", "pc"), viommu=found.get("viommu", ""))


def parse_vga(text: str) -> Vga:
    """The key `vga`; raises `FormatError`."""
    found = parse(VGA, text)
    memory = found.get("memory")
    return Vga(kind=found.get("type", "std"), memory=int(memory) if memory else None)


def current_memory(text: str) -> int:
    """MiB of the key `memory`; the default where it is not set. Raises `FormatError`."""
    return int(parse(MEMORY, text)["current"]) if text else DEFAULT_MEMORY


def print_meta(qemu_version: str, created_at: int) -> str:
    """What is written down about the making of a machine."""
    return f"creation-qemu={qemu_version},ctime={created_at}"


def windows_version(os_type: str) -> int:
    """Which Windows a type of operating system is, 0: none."""
    old = {"wxp": 5, "w2k3": 5, "w2k": 5, "w2k8": 6, "wvista": 6}
    digits = os_type.removeprefix("win")
    if os_type.startswith("win") and digits.isdecimal() and digits.isascii():
        return int(digits[:9])
    return old.get(os_type, 0)


PVE_REVISIONS = {(4, 1): 2, (9, 2): 1, (10, 0): 1, (11, 0): 2}
"""Latest own revision of machines by version of QEMU."""


def pinned_machine(text: str, os_type: str, qemu: tuple[int, int]) -> str:
    """The key `machine` in canonical form; Windows gets the version that it meets first."""
    found = parse(MACHINE, text) if text else {}
    kind = found.get("type", "")
    if kind in ("", "pc", "q35") and windows_version(os_type):
        revision = PVE_REVISIONS.get(qemu, 0)
        suffix = f"+pve{revision}" if revision else ""
        name = "pc-q35" if kind == "q35" else "pc-i440fx"
        found["type"] = f"{name}-{qemu[0]}.{qemu[1]}{suffix}"
    printed = print_properties(MACHINE, found)
    if printed:
        check_machine(printed)
    return printed


def check_machine(text: str) -> None:
    """Refuses a machine that cannot have its IOMMU; raises `FormatError` on bad text."""
    machine = parse_machine(text)
    if machine.viommu == "intel" and not machine.is_q35:
        raise die("to use Intel vIOMMU please set the machine type to q35")


def check_vga(text: str) -> None:
    """Refuses a display that cannot have its clipboard; raises `FormatError` on bad text."""
    found = parse(VGA, text)
    kind = found.get("type", "")
    if found.get("clipboard") == "vnc" and kind and not kind.startswith(_WITH_CLIPBOARD):
        raise die(f"vga type {kind} is not compatible with VNC clipboard")
