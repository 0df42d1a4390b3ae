"""Smaller calls about one machine: features, cloud-init, keys, monitor, and figures over time."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.views import cloud_init_rows
from stockman_lab.pve.guest_rows import cpus_of, disk_of, memory_of, used_memory_of
from stockman_lab.pve.qemu.cloud_init_drive import dumped, regenerate
from stockman_lab.pve.qemu.drives import drives_of
from stockman_lab.pve.qemu.file_lock import when_unlocked
from stockman_lab.pve.qemu.power import shelf_of
from stockman_lab.pve.qemu.shelf import has_feature

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
    return dumped(call.cluster, call.guest(), call.text("type"))


@endpoint("GET", "/nodes/{node}/qemu/{vmid}/rrddata")
def figures(call: Call) -> object:
    """Figures over time: the machine is taken to have been what it is now since it was started."""
    guest = call.guest()
    step = _FRAMES[call.text("timeframe")]
    last = int(call.now) // step * step
    return [_row(call, guest, last - step * back) for back in reversed(range(_ROWS))]


def _row(call: Call, guest: Guest, moment: int) -> dict[str, object]:
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
