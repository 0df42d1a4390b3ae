"""`/nodes/NODE/qemu/VMID/{config,pending,cloudinit,feature,rrddata}`: what a machine is."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call, Deferred
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.change import ConfigChange, read_machine_change
from stockman_lab.pve.guest_config.views import cloud_init_rows, pending_machine_rows, shown_machine
from stockman_lab.pve.guest_rows import cpus_of, disk_of, memory_of, used_memory_of
from stockman_lab.pve.qemu.cloud_init_drive import dump_text, regenerate
from stockman_lab.pve.qemu.creating import Configure, change_argument, check_change, update
from stockman_lab.pve.qemu.drives import drives_of
from stockman_lab.pve.qemu.file_lock import when_unlocked
from stockman_lab.pve.qemu.power import shelf_of
from stockman_lab.pve.qemu.settings import given_values, only_for_root, settle_change
from stockman_lab.pve.qemu.shelf import has_feature

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


_FRAMES = {"hour": 60, "day": 1800, "week": 10_800, "month": 43_200, "year": 604_800}
_ROWS = 70


@endpoint("GET", "/nodes/{node}/qemu/{vmid}/feature")
def feature(call: Call) -> object:
    """Whether snapshots, clones or copies are possible, and which hosts could have the machine."""
    guest, name = call.guest(), call.text("snapname")
    values = guest.config.values
    if name:
        if name not in guest.config.snapshots:
            raise die(f"snapshot '{name}' does not exist")
        values = guest.config.snapshots[name]
    shelf = shelf_of(call.cluster, guest)
    possible = all(
        has_feature(shelf, call.text("feature"), drive.volume, name)
        for drive in drives_of(values)
        if not drive.is_cdrom
    )
    return {"hasFeature": int(possible), "nodes": _hosts_for(call, guest, values)}


def _hosts_for(call: Call, guest: Guest, values: dict[str, str]) -> list[str]:
    hosts = list(call.cluster.state.hosts)
    for drive in drives_of(values):
        storage = call.cluster.state.storages.get(storage_of(drive.volume) if drive.volume else "")
        if storage is None:
            continue
        hosts = [
            name
            for name in hosts
            if storage.is_on(name) and (storage.is_shared or name == guest.node)
        ]
    return hosts


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


@endpoint("GET", "/nodes/{node}/qemu/{vmid}/rrddata")
def figures(call: Call) -> object:
    """Figures over time: the machine is taken to have been what it is now since it was started."""
    guest = call.guest()
    step = _FRAMES[call.text("timeframe")]
    last = int(call.now) // step * step
    return [_figures_row(call, guest, last - step * back) for back in reversed(range(_ROWS))]


def _figures_row(call: Call, guest: Guest, moment: int) -> dict[str, object]:
    row: dict[str, object] = {
        "time": moment,
        "maxcpu": cpus_of(guest),
        "maxmem": memory_of(guest),
        "maxdisk": disk_of(call.cluster, guest),
        "disk": 0,
    }
    if guest.is_running and moment >= guest.started_at:
        row |= {"cpu": 0.01, "mem": used_memory_of(guest), "netin": 0, "netout": 0}
        row |= {"diskread": 0, "diskwrite": 0}
    return row
