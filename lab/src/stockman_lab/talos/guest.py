"""Talos as what runs inside a virtual machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from stockman_lab.guest.system import AgentError, Throws

if TYPE_CHECKING:
    from stockman_lab.guest.view import GuestView
    from stockman_lab.talos.fleet import Fleet
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


KIND = "talos"
PLATFORMS = ("metal", "nocloud")
_MACHINE = "machine"


class TalosGuest:
    """The way from a virtual machine to the Talos machine in it."""

    kind: ClassVar[str] = KIND

    def __init__(self, land: Fleet, key: str = "") -> None:
        self._land = land
        self._key = key

    @property
    def _machine(self) -> Machine | None:
        return self._land.by_key.get(self._key)

    def booted(self, view: GuestView, now: float, dice: Throws) -> None:
        from stockman_lab.talos.booting import power_on

        del dice
        machine = self._land.machine(view.cluster, view.vmid)
        self._key = machine.key
        power_on(machine, view, max(now - self._land.now, 0.0))
        self._land.settle(machine)

    def changed(self, view: GuestView, now: float) -> None:
        from stockman_lab.talos.networking import hardware_changed

        del view, now
        machine = self._machine
        if machine is not None and machine.state.is_on:
            hardware_changed(machine)
            self._land.settle(machine)

    def shutdown(self, now: float, dice: Throws) -> float | None:
        from stockman_lab.talos.acting import press_button

        del now, dice
        machine = self._machine
        if machine is None or not machine.state.services:
            return None
        seconds = press_button(machine)
        self._land.settle(machine)
        return seconds

    def lost_power(self, now: float) -> None:
        del now
        machine = self._machine
        if machine is None:
            return
        machine.state.boot += 1
        machine.state.failures = 0
        machine.go_dark()
        self._land.settle(machine)

    def agent_is_up(self, now: float) -> bool:
        del now
        machine = self._machine
        return machine is not None and machine.runs("ext-qemu-guest-agent")

    def ask(self, command: str, arguments: Mapping[str, object], now: float) -> object:
        machine = self._machine
        if machine is None or not self.agent_is_up(now):
            raise AgentError("the agent is not there yet")
        return answer(machine, command, arguments)

    def saved(self) -> dict[str, object]:
        return {_MACHINE: self._key}

    @classmethod
    def loaded(cls, fleet: Fleet, saved: Mapping[str, object]) -> TalosGuest:
        """The guest that was saved."""
        return cls(fleet, str(saved[_MACHINE]))
