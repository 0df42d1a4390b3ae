"""Keys of configurations, the kinds of their values, and how a file stores them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from stockman_lab.pve.formats.drive import is_drive, is_unused

Kind = Literal["boolean", "integer", "number", "string"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MACHINE_KINDS: Mapping[Kind, frozenset[str]] = {
    "boolean": _names(
        "acpi allow-ksm autostart ciupgrade freeze keephugepages kvm localtime numa onboot "
        "protection reboot tablet tdf template"
    ),
    "integer": _names("balloon cores cpuunits migrate_speed shares smp snaptime sockets vcpus"),
    "number": frozenset({"cpulimit", "migrate_downtime"}),
    "string": _names(
        "affinity agent amd-sev arch args audio0 bios boot bootdisk cdrom cicustom cipassword "
        "citype ciuser cpu description hookscript hotplug hugepages intel-tdx ivshmem keyboard "
        "lock machine memory meta name nameserver ostype parent rng0 running-nets-host-mtu "
        "runningcpu runningmachine scsihw searchdomain smbios1 spice_enhancements sshkeys "
        "startdate startup tags vga vmgenid vmstate vmstatestorage watchdog"
    ),
}
_MACHINE_RANGES = {
    "net": 32,
    "ipconfig": 32,
    "hostpci": 16,
    "usb": 14,
    "serial": 4,
    "parallel": 3,
    "numa": 8,
    "virtiofs": 10,
}
_CONTAINER_KINDS: Mapping[Kind, frozenset[str]] = {
    "boolean": frozenset({"console", "debug", "onboot", "protection", "template", "unprivileged"}),
    "integer": frozenset({"cores", "cpuunits", "memory", "snaptime", "swap", "tty"}),
    "number": frozenset({"cpulimit"}),
    "string": _names(
        "arch cmode description entrypoint env features hookscript hostname lock nameserver "
        "ostype parent rootfs searchdomain startup tags timezone"
    ),
}
_CONTAINER_RANGES = {"net": 32, "mp": 256, "dev": 256, "unused": 256}
_INDEXED = re.compile(r"([a-z]+)(0|[1-9]\d{0,3})", re.ASCII)

CLOUD_INIT = _names(
    "citype ciuser cipassword ciupgrade cicustom searchdomain nameserver sshkeys"
) | {f"ipconfig{number}" for number in range(32)}
"""Keys that only the cloud-init drive is made of."""

CLOUD_INIT_SOURCES = CLOUD_INIT | {"name"} | {f"net{number}" for number in range(32)}
"""All keys that show in the cloud-init drive."""


def machine_key_exists(key: str) -> bool:
    """Whether virtual machines know a key."""
    return (
        any(key in names for names in _MACHINE_KINDS.values())
        or is_drive(key)
        or is_unused(key)
        or _in_range(key, _MACHINE_RANGES)
    )


def container_key_exists(key: str) -> bool:
    """Whether containers know a key."""
    known = any(key in names for names in _CONTAINER_KINDS.values())
    return known or _in_range(key, _CONTAINER_RANGES)


def machine_kind(key: str) -> Kind:
    """What a value of a virtual machine is."""
    return _kind(key, _MACHINE_KINDS)


def container_kind(key: str) -> Kind:
    """What a value of a container is."""
    return _kind(key, _CONTAINER_KINDS)


def index_of(key: str, prefix: str) -> int | None:
    """The number of an indexed key: 3 of `net3`; None if it is another key."""
    found = _INDEXED.fullmatch(key)
    return int(found[2]) if found and found[1] == prefix else None


def is_indexed(key: str, *prefixes: str) -> bool:
    """Whether a key is one of these with a number."""
    found = _INDEXED.fullmatch(key)
    return bool(found and found[1] in prefixes)


def _kind(key: str, kinds: Mapping[Kind, frozenset[str]]) -> Kind:
    return next((kind for kind, names in kinds.items() if key in names), "string")


def _in_range(key: str, ranges: Mapping[str, int]) -> bool:
    found = _INDEXED.fullmatch(key)
    return bool(found and int(found[2]) < ranges.get(found[1], 0))


_TRUE = frozenset({"1", "on", "yes", "true"})
_UNQUOTED = frozenset({"args", "ciuser", "cipassword", "searchdomain"})


def machine_value(key: str, value: str) -> str:
    """A value of a virtual machine, read back: an empty one has become a blank."""
    if key == "description":
        return value.rstrip()
    read = _normal(machine_kind(key), value)
    if key in _UNQUOTED and len(read) > 1 and read[0] == read[-1] == '"':
        read = read[1:-1]
    return read


def container_value(key: str, value: str) -> str:
    """A value of a container, read back: every line of a description ends with a line feed."""
    if key == "description":
        text = value.rstrip("\n")
        return f"{text}\n" if text else ""
    if key == "env":
        return value
    return _normal(container_kind(key), value)


def _normal(kind: Kind, value: str) -> str:
    if kind == "boolean":
        return "1" if value.lower() in _TRUE else "0"
    if kind == "integer" and value.isascii() and value.isdecimal():
        return value.lstrip("0") or "0"
    return value.strip() or " "
