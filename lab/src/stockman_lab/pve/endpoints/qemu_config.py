"""`/nodes/NODE/qemu/VMID/config`: what a machine is, and what it is to become."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call, Deferred
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.guest_config.change import Change, read_machine_change
from stockman_lab.pve.guest_config.views import pending_machine_rows, shown_machine
from stockman_lab.pve.qemu.file_lock import when_unlocked
from stockman_lab.pve.qemu.rights import only_for_root
from stockman_lab.pve.qemu.settings import given_values, settled_change
from stockman_lab.pve.qemu.updating import Configure, change_argument, check_change, update

_NO_KEYS = frozenset(
    {"node", "vmid", "digest", "skiplock", "background_delay", "import-working-storage"}
)

_AND_A_LITTLE = 0.01
"""Seconds after which a worker is through for sure."""


@endpoint("GET", "/nodes/{node}/qemu/{vmid}/config")
def config(call: Call) -> object:
    return shown_machine(
        call.guest().config, current=call.flag("current"), snapshot=call.text("snapshot")
    )


@endpoint("GET", "/nodes/{node}/qemu/{vmid}/pending")
def pending(call: Call) -> object:
    return pending_machine_rows(call.guest().config)


@endpoint("PUT", "/nodes/{node}/qemu/{vmid}/config")
def update_now(call: Call) -> object:
    """Change a configuration while the caller waits."""
    change = _change(call)
    return when_unlocked(call, lambda: _update(call, change))


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/config")
def update_later(call: Call) -> object:
    """Let a worker change a configuration; wait for it a while if that is wanted."""
    change = _change(call)
    check_change(call.guest(), change, call.text("digest"), skip=call.flag("skiplock"))
    arguments = {
        "vmid": call.vmid,
        "change": change_argument(change),
        "digest": call.text("digest"),
        "skiplock": call.flag("skiplock"),
    }
    upid = call.start("qmconfig", str(call.vmid), Configure.name, arguments)
    if not call.has("background_delay"):
        return upid
    delay = float(call.number("background_delay"))
    expected = max(call.guest().busy_until - call.now, 0.0) + _AND_A_LITTLE
    return Deferred(min(delay, expected), lambda: _concluded(call, upid))


@endpoint("PUT", "/nodes/{node}/qemu/{vmid}/unlink")
def unlink(call: Call) -> object:
    """Take drives away, or destroy what they hold."""
    parameters = {"delete": call.text("idlist"), "force": "1" if call.flag("force") else "0"}
    call.cluster.require_quorum()
    config = call.guest().config
    read_machine_change(parameters)
    change = settled_change(call, config, parameters)
    return when_unlocked(call, lambda: _update(call, change))


def _change(call: Call) -> Change:
    only_for_root(call, "skiplock")
    call.cluster.require_quorum()
    return settled_change(call, call.guest().config, given_values(call, _NO_KEYS))


def _update(call: Call, change: Change) -> None:
    guest = call.guest()
    check_change(guest, change, call.text("digest"), skip=call.flag("skiplock"))
    update(call.cluster, guest, change)


def _concluded(call: Call, upid: str) -> object:
    task = call.cluster.state.tasks[upid]
    if task.is_running:
        return upid
    if task.exit_status == "OK" or task.exit_status.startswith("WARNINGS"):
        return None
    raise die(f"failed to update VM {call.vmid}: {task.exit_status}")
