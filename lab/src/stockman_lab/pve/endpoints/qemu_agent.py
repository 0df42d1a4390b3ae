"""`/nodes/NODE/qemu/VMID/agent`: what the agent in a machine says and does."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.core.faults import Effect, Point
from stockman_lab.guest.system import Ask, plain_answer
from stockman_lab.pve.api.call import Call, Deferred
from stockman_lab.pve.api.registry import Handler, endpoint
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.hardware import is_agent_enabled
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.qemu.power import keep_system, press_button, system_in

_PING = 3.0
"""Seconds after which an agent counts as not there."""
_NOT_RUNNING = "QEMU guest agent is not running"


def ask_agent(call: Call, command: str, question: Callable[[Ask], object]) -> object:
    """What the agent of a guest says, or that it says nothing."""
    guest = call.guest()
    if "agent" not in guest.config.values:
        raise die("No QEMU guest agent configured")
    if not guest.is_running:
        raise die(f"VM {guest.vmid} is not running")
    facts = {"node": guest.node, "vmid": guest.vmid, "command": command}
    fault = call.cluster.fault(Point.AGENT, facts)
    if fault is not None and fault.effect is Effect.DELAY:
        return Deferred(fault.seconds, lambda: _answer(call, guest, question))
    if not _is_there(call, guest):
        return Deferred(_PING, _silence(die(_NOT_RUNNING)))
    if fault is None:
        return _answer(call, guest, question)
    if fault.effect is Effect.DO_THEN_FAIL:
        _answer(call, guest, question)
    return Deferred(_PING, _silence(call.cluster.raise_fault(fault, _NOT_RUNNING)))


def _is_there(call: Call, guest: Guest) -> bool:
    system = system_in(call.cluster, guest)
    connected = is_agent_enabled(guest.config.values["agent"]) and not guest.paused
    return connected and system is not None and system.agent_is_up(call.now)


def _answer(call: Call, guest: Guest, question: Callable[[Ask], object]) -> object:
    system = system_in(call.cluster, guest)
    if system is None:
        raise die(_NOT_RUNNING)

    def ask(command: str, arguments: dict[str, object]) -> object:
        return system.ask(command, arguments, call.now)

    try:
        return question(ask)
    finally:
        keep_system(call.cluster, guest, system)


def _silence(error: ApiError) -> Callable[[], object]:
    def answer() -> object:
        raise error

    return answer


_BASE = "/nodes/{node}/qemu/{vmid}/agent"
_GETS = ("get-host-name", "get-osinfo", "get-time", "info", "network-get-interfaces")
_POSTS = ("ping", "shutdown")


def _handler(command: str) -> Handler:
    def handler(call: Call) -> object:
        return _result(call, command)

    return handler


for _name in _GETS:
    endpoint("GET", f"{_BASE}/{_name}")(_handler(_name))
for _name in _POSTS:
    endpoint("POST", f"{_BASE}/{_name}")(_handler(_name))


def _result(call: Call, command: str) -> object:
    def question(ask: Ask) -> object:
        found = plain_answer(ask, command)
        if command == "shutdown":
            press_button(call.cluster, call.guest())
        return {"result": found}

    return ask_agent(call, command, question)
