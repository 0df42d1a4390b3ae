"""`/nodes/NODE/qemu/VMID/clone` and `/template`."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.nic import parse_nic
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.guest_config.needs import Guest as Owner
from stockman_lab.pve.guest_config.needs import bridge_needs
from stockman_lab.pve.qemu import cloning
from stockman_lab.pve.qemu.cloning import Clone, Wish, check_clone, copied_drives, source_values
from stockman_lab.pve.qemu.rights import check_needs
from stockman_lab.pve.qemu.shelf import Shelf


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/clone")
def clone(call: Call) -> object:
    """Let a worker make a copy of a machine."""
    guest = call.guest()
    pool = call.text("pool")
    if call.has("pool") and pool not in call.cluster.state.resource_pools:
        raise die(f"pool '{pool}' does not exist")
    target = call.text("target")
    wish = Wish(
        newid=call.number("newid"),
        full=call.flag("full") if call.has("full") else None,
        snapshot=call.text("snapname"),
        storage=call.text("storage"),
        format=call.text("format"),
        target="" if target in (call.node.name, "localhost") else target,
    )
    check_clone(call.cluster, guest, wish)
    for drive in copied_drives(source_values(guest, wish.snapshot)):
        storage = wish.storage or storage_of(drive.volume)
        call.check(f"/storage/{storage}", "Datastore.AllocateSpace")
    _check_bridges(call, source_values(guest, wish.snapshot))
    arguments = {
        "vmid": call.vmid,
        "newid": wish.newid,
        "full": wish.full,
        "snapname": wish.snapshot,
        "storage": wish.storage,
        "format": wish.format,
        "target": wish.target,
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
