"""`/nodes/NODE/qemu/VMID/agent`: what the agent in a machine says and does."""

from __future__ import annotations

from stockman_lab.guest.agent_calls import Ask, execute, execution, plain_answer
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import Handler, endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.qemu.asking import asked
from stockman_lab.pve.qemu.power import power_off, press_button

_BASE = "/nodes/{node}/qemu/{vmid}/agent"
_GETS = (
    *("get-fsinfo", "get-host-name", "get-memory-block-info", "get-memory-blocks", "get-osinfo"),
    *("get-time", "get-timezone", "get-users", "get-vcpus", "info", "network-get-interfaces"),
)
_POSTS = (
    *("fsfreeze-freeze", "fsfreeze-status", "fsfreeze-thaw", "fstrim", "ping", "shutdown"),
    *("suspend-disk", "suspend-hybrid", "suspend-ram"),
)


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
        _afterwards(call, command)
        return {"result": found}

    return asked(call, command, question)


def _afterwards(call: Call, command: str) -> None:
    """What the machine does because its agent was told to."""
    if command == "shutdown":
        press_button(call.cluster, call.guest())
    elif command in ("suspend-disk", "suspend-hybrid"):
        power_off(call.cluster, call.guest())
    elif command == "suspend-ram":
        call.guest().paused = True


@endpoint("POST", f"{_BASE}/exec")
def execute_command(call: Call) -> object:
    command = call.params.get("command")
    words = [str(word) for word in command] if isinstance(command, list) else []
    if not words and not call.has("input-data"):
        raise die("command or input-data (or both) required")
    return asked(
        call,
        "exec",
        lambda ask: execute(
            ask, words, call.text("input-data") if call.has("input-data") else None
        ),
    )


@endpoint("GET", f"{_BASE}/exec-status")
def execution_status(call: Call) -> object:
    return asked(call, "exec-status", lambda ask: execution(ask, call.number("pid")))
