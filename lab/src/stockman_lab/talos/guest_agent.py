"""The QEMU guest agent of a Talos machine: the few commands that its extension answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stockman_lab.guest.system import AgentError

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


def answer(machine: Machine, command: str, arguments: Mapping[str, object]) -> object:
    """The answer to a command; raises `AgentError`."""
    del arguments
    simple: dict[str, object] = {
        "ping": {},
        "sync": 0,
        "info": {"version": "9.2.0", "supported_commands": _commands()},
        "get-time": int(machine.clock * 1e9),
        "shutdown": {},
    }
    if command in simple:
        return simple[command]
    if command == "network-get-interfaces":
        return _interfaces(machine)
    if command in ("get-host-name", "get-hostname"):
        return {"host-name": machine.hostname}
    if command == "get-osinfo":
        return {
            "id": "talos",
            "name": "Talos",
            "pretty-name": f"Talos ({machine.version})",
            "version": machine.version,
            "version-id": machine.version,
            "machine": "aarch64" if machine.state.architecture == "arm64" else "x86_64",
        }
    if command == "get-vcpus":
        return [
            {"logical-id": number, "online": True, "can-offline": number > 0}
            for number in range(machine.state.cores)
        ]
    raise AgentError(f"The command guest-{command} has not been found", "CommandNotFound")


def _commands() -> list[dict[str, object]]:
    names = ("ping", "sync", "info", "get-time", "shutdown", "network-get-interfaces")
    more = ("get-host-name", "get-osinfo", "get-vcpus")
    return [
        {"name": f"guest-{name}", "enabled": True, "success-response": name != "shutdown"}
        for name in (*names, *more)
    ]


def _interfaces(machine: Machine) -> list[dict[str, object]]:
    network = machine.state.network
    rows = []
    for link in network.links:
        addresses = [
            {
                "ip-address-type": "ipv6" if ":" in address.address else "ipv4",
                "ip-address": address.address.partition("/")[0],
                "prefix": int(address.address.partition("/")[2]),
            }
            for address in network.addresses
            if address.link == link.name
        ]
        row: dict[str, object] = {"name": link.name, "ip-addresses": addresses}
        if link.mac:
            row["hardware-address"] = link.mac
        rows.append(row)
    return rows
