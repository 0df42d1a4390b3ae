"""Answers of the agent of a plain Linux, in the shapes of the QEMU guest agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import ip_interface
from typing import TypeAlias

from stockman_lab.guest import agent_exec, agent_files
from stockman_lab.guest.inside import KERNEL, KERNEL_VERSION, NAME, VERSION, Inside
from stockman_lab.guest.links import Link
from stockman_lab.guest.system import AgentError

Arguments: TypeAlias = Mapping[str, object]
Answer: TypeAlias = Callable[[Inside, Arguments, float], object]

_VERSION = "9.2.0"
_BLOCK = 128 << 20
_USED = 1536 << 20
_RESERVED = 0.05
_LOOPBACK = Link(name="lo", mac="00:00:00:00:00:00", addresses=["127.0.0.1/8", "::1/128"])
_BUSES = {"scsi": "scsi", "virtio": "virtio", "sata": "sata", "ide": "ide"}
_WHEN_FROZEN = frozenset({"ping", "info", "sync", "sync-delimited", "fsfreeze-status"}) | {
    "fsfreeze-thaw"
}


def answer(inside: Inside, command: str, arguments: Arguments, now: float) -> object:
    """The answer to a command without the `guest-` in front of it."""
    found = _ANSWERS.get(command)
    if found is None:
        raise AgentError(f"The command guest-{command} has not been found", "CommandNotFound")
    if inside.is_frozen and command not in _WHEN_FROZEN:
        text = f"Command guest-{command} has been disabled: the command is not allowed"
        raise AgentError(text, "CommandNotFound")
    return found(inside, arguments, now)


def _nothing(inside: Inside, arguments: Arguments, now: float) -> object:
    del inside, arguments, now
    return {}


def _info(inside: Inside, arguments: Arguments, now: float) -> object:
    del arguments, now
    commands = [
        {
            "name": f"guest-{name}",
            "enabled": not inside.is_frozen or name in _WHEN_FROZEN,
            "success-response": not name.startswith(("shutdown", "suspend-")),
        }
        for name in sorted(_ANSWERS)
    ]
    return {"version": _VERSION, "supported_commands": commands}


def _interfaces(inside: Inside, arguments: Arguments, now: float) -> object:
    del arguments
    seconds = int(now - inside.started_at)
    return [_interface(link, seconds) for link in (_LOOPBACK, *inside.links)]


def _interface(link: Link, seconds: int) -> dict[str, object]:
    interface: dict[str, object] = {"name": link.name, "hardware-address": link.mac}
    if link.addresses:
        interface["ip-addresses"] = [_address(address) for address in link.addresses]
    packets = seconds * 3 if link.is_up else 0
    interface["statistics"] = {
        "rx-bytes": packets * 180,
        "rx-packets": packets,
        "rx-errs": 0,
        "rx-dropped": 0,
        "tx-bytes": packets * 120,
        "tx-packets": packets,
        "tx-errs": 0,
        "tx-dropped": 0,
    }
    return interface


def _address(text: str) -> dict[str, object]:
    found = ip_interface(text)
    return {
        "ip-address": str(found.ip),
        "ip-address-type": f"ipv{found.version}",
        "prefix": found.network.prefixlen,
    }


def _os(inside: Inside, arguments: Arguments, now: float) -> object:
    del arguments, now
    return {
        "kernel-release": KERNEL,
        "kernel-version": KERNEL_VERSION,
        "machine": inside.machine,
        "id": "stockman-lab",
        "name": NAME,
        "pretty-name": f"{NAME} {VERSION}",
        "version": VERSION,
        "version-id": VERSION,
    }


def _file_systems(inside: Inside, arguments: Arguments, now: float) -> object:
    del arguments, now
    bus = next((kind for name, kind in _BUSES.items() if inside.boot_slot.startswith(name)), "")
    if not bus:
        return []
    node = "vda" if bus == "virtio" else "sda"
    size = inside.disks.get(inside.boot_slot, 0)
    privileged = max(size - (1 << 20), 0)
    unit = int(inside.boot_slot.removeprefix(bus) or 0)
    disk = {
        "bus-type": bus,
        "bus": 0,
        "target": 0,
        "unit": unit,
        "dev": f"/dev/{node}1",
        "pci-controller": {"domain": 0, "bus": 0, "slot": 5, "function": 0},
    }
    return [
        {
            "name": f"{node}1",
            "mountpoint": "/",
            "type": "ext4",
            "used-bytes": min(_USED, privileged),
            "total-bytes": int(privileged * (1 - _RESERVED)),
            "total-bytes-privileged": privileged,
            "disk": [disk],
        }
    ]


def _processors(inside: Inside, arguments: Arguments, now: float) -> object:
    del arguments, now
    return [
        {"logical-id": number, "online": True, "can-offline": number > 0}
        for number in range(inside.cores)
    ]


def _memory_blocks(inside: Inside, arguments: Arguments, now: float) -> object:
    del arguments, now
    return [
        {"phys-index": number, "online": True, "can-offline": True}
        for number in range(-(-inside.memory // _BLOCK))
    ]


def _freeze(inside: Inside, arguments: Arguments, now: float) -> object:
    del arguments, now
    inside.is_frozen = True
    return 1


def _thaw(inside: Inside, arguments: Arguments, now: float) -> object:
    del arguments, now
    thawed = int(inside.is_frozen)
    inside.is_frozen = False
    return thawed


def _trim(inside: Inside, arguments: Arguments, now: float) -> object:
    del arguments, now
    size = inside.disks.get(inside.boot_slot, 0)
    return {"paths": [{"path": "/", "minimum": 0, "trimmed": max(size - _USED, 0)}]}


def _shared_forms() -> dict[str, Answer]:
    return {
        "get-time": lambda _inside, _arguments, now: int(now * 1_000_000_000),
        "get-timezone": lambda _inside, _arguments, _now: {"zone": "UTC", "offset": 0},
        "get-host-name": lambda inside, _arguments, _now: {"host-name": inside.hostname},
        "get-users": lambda _inside, _arguments, _now: [],
        "get-memory-block-info": lambda _inside, _arguments, _now: {"size": _BLOCK},
        "fsfreeze-status": lambda inside, _arguments, _now: (
            "frozen" if inside.is_frozen else "thawed"
        ),
    }


_ANSWERS: dict[str, Answer] = {
    **dict.fromkeys(
        ("ping", "shutdown", "suspend-disk", "suspend-hybrid", "suspend-ram", "set-user-password"),
        _nothing,
    ),
    **_shared_forms(),
    "info": _info,
    "network-get-interfaces": _interfaces,
    "get-osinfo": _os,
    "get-fsinfo": _file_systems,
    "get-vcpus": _processors,
    "get-memory-blocks": _memory_blocks,
    "fsfreeze-freeze": _freeze,
    "fsfreeze-thaw": _thaw,
    "fstrim": _trim,
    **agent_exec.ANSWERS,
    **agent_files.ANSWERS,
}
