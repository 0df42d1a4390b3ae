"""`/nodes/NODE/lxc/VMID/snapshot`: containers as they were."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.guest_config.state import container_digest
from stockman_lab.pve.guest_config.stored import stored_in_container
from stockman_lab.pve.guest_config.views import shown_container
from stockman_lab.pve.lxc import snapshots
from stockman_lab.pve.qemu.waiting import when_unlocked

_SNAPSHOTS = "/nodes/{node}/lxc/{vmid}/snapshot"


@endpoint("GET", _SNAPSHOTS)
def listed(call: Call) -> object:
    """Snapshots, and last of all what the container is now."""
    guest = call.guest("lxc")
    rows = []
    for name, values in guest.config.snapshots.items():
        row: dict[str, object] = {"name": name, "snaptime": int(values.get("snaptime", "0"))}
        row["description"] = values.get("description", "")
        if "parent" in values:
            row["parent"] = values["parent"]
        rows.append(row)
    now: dict[str, object] = {
        "name": "current",
        "description": "You are here!",
        "digest": container_digest(guest.config),
        "running": int(guest.is_running),
    }
    if "parent" in guest.config.values:
        now["parent"] = guest.config.values["parent"]
    return [*rows, now]


@endpoint("POST", _SNAPSHOTS)
def take(call: Call) -> object:
    call.cluster.require_quorum()
    call.guest("lxc")
    name = call.text("snapname")
    snapshots.check_name(name)
    arguments = {"vmid": call.vmid, "snapname": name, "description": call.text("description")}
    return call.start("vzsnapshot", str(call.vmid), snapshots.Take.name, arguments)


@endpoint("GET", f"{_SNAPSHOTS}/{{snapname}}")
def index(call: Call) -> object:
    del call
    return [{"cmd": "rollback"}, {"cmd": "config"}]


@endpoint("DELETE", f"{_SNAPSHOTS}/{{snapname}}")
def forget(call: Call) -> object:
    call.cluster.require_quorum()
    arguments = {"vmid": call.vmid, "snapname": call.text("snapname")}
    return call.start("vzdelsnapshot", str(call.vmid), snapshots.Forget.name, arguments)


@endpoint("POST", f"{_SNAPSHOTS}/{{snapname}}/rollback")
def rollback(call: Call) -> object:
    call.cluster.require_quorum()
    arguments = {
        "vmid": call.vmid,
        "snapname": call.text("snapname"),
        "start": call.flag("start"),
    }
    return call.start("vzrollback", str(call.vmid), snapshots.Rollback.name, arguments)


@endpoint("GET", f"{_SNAPSHOTS}/{{snapname}}/config")
def config(call: Call) -> object:
    shown = shown_container(call.guest("lxc").config, snapshot=call.text("snapname"))
    shown.pop("digest")
    return shown


@endpoint("PUT", f"{_SNAPSHOTS}/{{snapname}}/config")
def describe(call: Call) -> object:
    if not call.has("description"):
        return None

    def write() -> object:
        guest = call.guest("lxc")
        call.cluster.refuse_locked(guest)
        values = snapshots.snapshot_of(guest, call.text("snapname"))
        values["description"] = stored_in_container("description", call.text("description"))
        return None

    call.cluster.require_quorum()
    return when_unlocked(call, write, "lxc")
