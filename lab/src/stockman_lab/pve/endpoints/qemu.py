"""`/nodes/NODE/qemu`: machines made, cloned and destroyed, and their disks."""

from __future__ import annotations

from stockman_lab.pve import guest_ids
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.nic import parse_nic
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.guest_config.needs import Guest as Owner
from stockman_lab.pve.guest_config.needs import bridge_needs
from stockman_lab.pve.qemu import cloning, creating, moving
from stockman_lab.pve.qemu.cloning import (
    Clone,
    CloneSettings,
    check_clone,
    copied_drives,
    source_values,
)
from stockman_lab.pve.qemu.rows import list_row, status_row
from stockman_lab.pve.qemu.settings import check_needs, given_values, only_for_root, settle_values
from stockman_lab.pve.qemu.shelf import Shelf

_NO_KEYS = frozenset(
    {
        *("node", "vmid", "archive", "bwlimit", "force", "ha-managed", "import-working-storage"),
        *("live-restore", "pool", "start", "storage", "unique"),
    }
)


@endpoint("GET", "/nodes/{node}/qemu")
def machines(call: Call) -> object:
    """Rows of machines that the caller may see."""
    return [
        _row(call, guest)
        for guest in call.cluster.guests_on(call.node.name, "qemu")
        if call.may(f"/vms/{guest.vmid}", "VM.Audit")
    ]


def _row(call: Call, guest: Guest) -> dict[str, object]:
    """A row; `full` tells what the monitor of each machine says, too."""
    if not call.flag("full"):
        return list_row(call.cluster, guest)
    row = status_row(call.cluster, guest)
    del row["ha"]
    return row


@endpoint("POST", "/nodes/{node}/qemu")
def create(call: Call) -> object:
    """Reserve an id, and let a worker make the machine."""
    if call.has("archive"):
        raise ApiError(501, f"Method 'POST /nodes/{call.text('node')}/qemu' not implemented")
    call.cluster.require_quorum()
    pool = call.text("pool")
    if call.has("pool") and pool not in call.cluster.state.resource_pools:
        raise die(f"pool '{pool}' does not exist")
    if call.has("storage"):
        call.check(f"/storage/{call.text('storage')}", "Datastore.AllocateSpace")
    if call.flag("ha-managed"):
        call.check("/", "Sys.Console")
    if call.flag("start"):
        _check_on_guest(call, pool, "VM.PowerMgmt")
    if not _may_on_guest(call, pool, "VM.Allocate"):
        raise ApiError(403, "Permission check failed")
    settings = settle_values(call, given_values(call, _NO_KEYS), pool)
    guest_ids.reserve(call.cluster, call.node, call.vmid, "qemu")
    arguments = {
        "vmid": call.vmid,
        "settings": settings,
        "pool": pool,
        "start": call.flag("start"),
        "ha-managed": call.flag("ha-managed"),
    }
    return call.start("qmcreate", str(call.vmid), creating.Create.name, arguments)


def _may_on_guest(call: Call, pool: str, privilege: str) -> bool:
    return call.may(f"/vms/{call.vmid}", privilege) or (
        bool(pool) and call.may(f"/pool/{pool}", privilege)
    )


def _check_on_guest(call: Call, pool: str, privilege: str) -> None:
    if not _may_on_guest(call, pool, privilege):
        call.check(f"/vms/{call.vmid}", privilege)


@endpoint("DELETE", "/nodes/{node}/qemu/{vmid}")
def destroy(call: Call) -> object:
    """Let a worker destroy a machine with its disks."""
    only_for_root(call, "skiplock")
    call.cluster.require_quorum()
    guest: Guest = call.guest()
    creating.check_destroy(call.cluster, guest, purge=call.flag("purge"))
    arguments = {
        "vmid": call.vmid,
        "purge": call.flag("purge"),
        "skiplock": call.flag("skiplock"),
        "unreferenced": call.flag("destroy-unreferenced-disks"),
    }
    return call.start("qmdestroy", str(call.vmid), creating.Destroy.name, arguments)


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/clone")
def clone(call: Call) -> object:
    """Let a worker make a copy of a machine."""
    guest = call.guest()
    pool = call.text("pool")
    if call.has("pool") and pool not in call.cluster.state.resource_pools:
        raise die(f"pool '{pool}' does not exist")
    target = call.text("target")
    settings = CloneSettings(
        newid=call.number("newid"),
        full=call.flag("full") if call.has("full") else None,
        snapshot=call.text("snapname"),
        storage=call.text("storage"),
        format=call.text("format"),
        target="" if target in (call.node.name, "localhost") else target,
    )
    check_clone(call.cluster, guest, settings)
    for drive in copied_drives(source_values(guest, settings.snapshot)):
        storage = settings.storage or storage_of(drive.volume)
        call.check(f"/storage/{storage}", "Datastore.AllocateSpace")
    _check_bridges(call, source_values(guest, settings.snapshot))
    arguments = {
        "vmid": call.vmid,
        "newid": settings.newid,
        "full": settings.full,
        "snapname": settings.snapshot,
        "storage": settings.storage,
        "format": settings.format,
        "target": settings.target,
        "pool": pool,
        "name": call.text("name"),
        "description": call.text("description"),
    }
    return call.start("qmclone", str(call.vmid), Clone.name, arguments)


def _check_bridges(call: Call, values: dict[str, str]) -> None:
    owner = Owner(call.vmid, Shelf(call.cluster, call.node, call.vmid).name_of)
    for key in sorted(values):
        if is_indexed(key, "net"):
            check_needs(call, bridge_needs(owner, parse_nic(values[key]).options))


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/template")
def template(call: Call) -> object:
    """Let a worker make a template of a machine."""
    call.cluster.require_quorum()
    guest, disk = call.guest(), call.text("disk")
    cloning.check_template(call.cluster, guest, disk)
    arguments = {"vmid": call.vmid, "disk": disk}
    return call.start("qmtemplate", str(call.vmid), cloning.Template.name, arguments)


_SPACE = "Datastore.AllocateSpace"


@endpoint("PUT", "/nodes/{node}/qemu/{vmid}/resize")
def resize(call: Call) -> object:
    """Let a worker make a disk larger; what is wrong shows in the task."""
    only_for_root(call, "skiplock")
    call.cluster.require_quorum()
    names = ("vmid", "disk", "size", "digest", "skiplock")
    arguments = {name: call.params[name] for name in names if call.has(name)}
    volume = call.guest().config.values.get(call.text("disk"), "").split(",")[0]
    arguments["may_grow"] = not storage_of(volume) or call.may(
        f"/storage/{storage_of(volume)}", _SPACE
    )
    return call.start("resize", str(call.vmid), moving.Resize.name, arguments)


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/move_disk")
def move_disk(call: Call) -> object:
    """Start a worker that moves a disk to another storage."""
    call.cluster.require_quorum()
    if call.has("target-vmid") and call.has("storage"):
        text = "either set 'storage' or 'target-vmid', but not both"
        raise bad_parameters({"target-vmid": text, "storage": text})
    if call.has("target-vmid"):
        path = f"/nodes/{call.text('node')}/qemu/{call.vmid}/move_disk"
        raise ApiError(501, f"Method 'POST {path}' with 'target-vmid' not implemented")
    if not call.has("storage"):
        text = "both 'storage' and 'target-vmid' missing, either needs to be set"
        raise bad_parameters({"target-vmid": text, "storage": text})
    call.check(f"/storage/{call.text('storage')}", _SPACE)
    names = ("vmid", "disk", "storage", "format", "digest", "delete")
    arguments = {name: call.params[name] for name in names if call.has(name)}
    moving.check_move(call.cluster, call.guest(), arguments)
    return call.start("qmmove", str(call.vmid), moving.Move.name, arguments)
