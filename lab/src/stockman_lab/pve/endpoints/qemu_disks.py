"""`/nodes/NODE/qemu/VMID/resize` and `/move_disk`."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import ApiError, bad_parameters
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.qemu import moving
from stockman_lab.pve.qemu.rights import only_for_root

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
