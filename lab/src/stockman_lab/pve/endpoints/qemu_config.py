"""`/nodes/NODE/qemu/VMID/{config,pending,cloudinit,feature,rrddata}`: what a machine is."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call, Deferred
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.guest_config.change import ConfigChange, read_machine_change
from stockman_lab.pve.guest_config.views import cloud_init_rows, pending_machine_rows, shown_machine
from stockman_lab.pve.qemu.cloud_init_drive import dump_text, regenerate
from stockman_lab.pve.qemu.creating import Configure, change_argument, check_change, update
from stockman_lab.pve.qemu.file_lock import when_unlocked
from stockman_lab.pve.qemu.settings import given_values, only_for_root, settle_change

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
    """ConfigChange a configuration while the caller waits."""
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
    return Deferred(min(delay, expected), lambda: _conclude(call, upid))


@endpoint("PUT", "/nodes/{node}/qemu/{vmid}/unlink")
def unlink(call: Call) -> object:
    """Take drives away, or destroy what they hold."""
    parameters = {"delete": call.text("idlist"), "force": "1" if call.flag("force") else "0"}
    call.cluster.require_quorum()
    config = call.guest().config
    read_machine_change(parameters)
    change = settle_change(call, config, parameters)
    return when_unlocked(call, lambda: _update(call, change))


def _change(call: Call) -> ConfigChange:
    only_for_root(call, "skiplock")
    call.cluster.require_quorum()
    return settle_change(call, call.guest().config, given_values(call, _NO_KEYS))


def _update(call: Call, change: ConfigChange) -> None:
    guest = call.guest()
    check_change(guest, change, call.text("digest"), skip=call.flag("skiplock"))
    update(call.cluster, guest, change)


def _conclude(call: Call, upid: str) -> object:
    task = call.cluster.state.tasks[upid]
    if task.is_running:
        return upid
    if task.exit_status == "OK" or task.exit_status.startswith("WARNINGS"):
        return None
    raise die(f"failed to update VM {call.vmid}: {task.exit_status}")


_ROWS = 70


@endpoint("GET", "/nodes/{node}/qemu/{vmid}/cloudinit")
def cloud_init(call: Call) -> object:
    return cloud_init_rows(call.guest().config)


@endpoint("PUT", "/nodes/{node}/qemu/{vmid}/cloudinit")
def make_cloud_init(call: Call) -> object:
    """Write the cloud-init drive anew."""
    call.cluster.require_quorum()

    def act() -> None:
        call.cluster.refuse_locked(call.guest())
        regenerate(call.cluster, call.guest())

    return when_unlocked(call, act)


@endpoint("GET", "/nodes/{node}/qemu/{vmid}/cloudinit/dump")
def dump_cloud_init(call: Call) -> object:
    return dump_text(call.cluster, call.guest(), call.text("type"))
