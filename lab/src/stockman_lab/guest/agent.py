"""Answers of the agent of a plain Linux, in the shapes of the QEMU guest agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_interface
from typing import TypeAlias

from stockman_lab.guest.links import Link
from stockman_lab.guest.system import AgentError

NAME, VERSION = "Stockman Lab Linux", "1"
KERNEL = "6.12.0-lab"
KERNEL_VERSION = "#1 SMP PREEMPT_DYNAMIC"


@dataclass(slots=True, kw_only=True)
class Inside:
    """What the agent knows of it."""

    hostname: str = "localhost"
    machine: str = "x86_64"
    links: list[Link] = field(default_factory=list)
    started_at: float = 0.0


Answer: TypeAlias = Callable[[Inside, float], object]

_VERSION = "9.2.0"
_LOOPBACK = Link(name="lo", mac="00:00:00:00:00:00", addresses=["127.0.0.1/8", "::1/128"])


def answer(inside: Inside, command: str, now: float) -> object:
    """Answer a command without the `guest-` in front of it."""
    answers = _ANSWERS.get(command)
    if answers is None:
        raise AgentError(f"The command guest-{command} has not been found", "CommandNotFound")
    return answers(inside, now)


def _empty_answer(inside: Inside, now: float) -> object:
    del inside, now
    return {}


def _info(inside: Inside, now: float) -> object:
    del inside, now
    commands = [
        {"name": f"guest-{name}", "enabled": True, "success-response": name != "shutdown"}
        for name in sorted(_ANSWERS)
    ]
    return {"version": _VERSION, "supported_commands": commands}


def _interfaces(inside: Inside, now: float) -> object:
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


def _os(inside: Inside, now: float) -> object:
    del now
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


_ANSWERS: dict[str, Answer] = {
    "ping": _empty_answer,
    "shutdown": _empty_answer,
    "info": _info,
    "network-get-interfaces": _interfaces,
    "get-osinfo": _os,
    "get-host-name": lambda inside, _now: {"host-name": inside.hostname},
    "get-time": lambda _inside, now: int(now * 1_000_000_000),
}
