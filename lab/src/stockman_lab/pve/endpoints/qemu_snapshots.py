"""`/nodes/NODE/qemu/VMID/snapshot`: what a machine was, and going back to it."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.guest_config.state import machine_digest
from stockman_lab.pve.guest_config.views import shown_machine
from stockman_lab.pve.qemu import snapshots
from stockman_lab.pve.qemu.file_lock import when_unlocked


@endpoint("GET", "/nodes/{node}/qemu/{vmid}/snapshot")
def listed(call: Call) -> object:
    guest = call.guest()
    rows: list[dict[str, object]] = []
    for name, kept in guest.config.snapshots.items():
        row: dict[str, object] = {
            "name": name,
            "snaptime": int(kept.get("snaptime", "0")),
            "vmstate": int("vmstate" in kept),
            "description": kept.get("description", ""),
        }
        if "parent" in kept:
            row["parent"] = kept["parent"]
        rows.append(row)
    current: dict[str, object] = {
        "name": "current",
        "digest": machine_digest(guest.config),
        "running": int(guest.is_running),
        "description": "You are here!",
    }
    if "parent" in guest.config.values:
        current["parent"] = guest.config.values["parent"]
    return [*rows, current]


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/snapshot")
def take(call: Call) -> object:
    snapshots.refuse_reserved(call.text("snapname"))
    call.cluster.require_quorum()
    call.guest()
    names = ("vmid", "snapname", "description", "vmstate")
    arguments = {name: call.params[name] for name in names if call.has(name)}
    return call.start("qmsnapshot", str(call.vmid), snapshots.TakeSnapshot.name, arguments)


@endpoint("GET", "/nodes/{node}/qemu/{vmid}/snapshot/{snapname}")
def index(call: Call) -> object:
    del call
    return [{"cmd": "rollback"}, {"cmd": "config"}]


@endpoint("GET", "/nodes/{node}/qemu/{vmid}/snapshot/{snapname}/config")
def config(call: Call) -> object:
    shown = dict(shown_machine(call.guest().config, snapshot=call.text("snapname")))
    del shown["digest"]
    return shown


@endpoint("PUT", "/nodes/{node}/qemu/{vmid}/snapshot/{snapname}/config")
def describe(call: Call) -> object:
    call.cluster.require_quorum()

    def change() -> None:
        kept = call.guest().config.snapshots.get(call.text("snapname"))
        call.cluster.refuse_locked(call.guest())
        if kept is None:
            raise die(f"snapshot '{call.text('snapname')}' does not exist")
        if call.has("description"):
            kept["description"] = call.text("description").rstrip("\n")
            if not kept["description"]:
                del kept["description"]

    return when_unlocked(call, change)


@endpoint("DELETE", "/nodes/{node}/qemu/{vmid}/snapshot/{snapname}")
def delete(call: Call) -> object:
    call.cluster.require_quorum()
    call.guest()
    arguments = {"vmid": call.vmid, "snapname": call.text("snapname"), "force": call.flag("force")}
    return call.start("qmdelsnapshot", str(call.vmid), snapshots.DeleteSnapshot.name, arguments)


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/snapshot/{snapname}/rollback")
def rollback(call: Call) -> object:
    call.cluster.require_quorum()
    call.guest()
    if call.flag("start"):
        call.check(f"/vms/{call.vmid}", "VM.PowerMgmt")
    arguments = {"vmid": call.vmid, "snapname": call.text("snapname"), "start": call.flag("start")}
    return call.start("qmrollback", str(call.vmid), snapshots.Rollback.name, arguments)
