"""`/nodes/NODE/qemu/VMID/agent`: what the agent in a machine says and does."""

from __future__ import annotations

from stockman_lab.guest.system import Ask, plain_answer
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import Handler, endpoint
from stockman_lab.pve.qemu.asking import asked
from stockman_lab.pve.qemu.power import press_button

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

    return asked(call, command, question)
