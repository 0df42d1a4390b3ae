"""`/nodes/NODE/qemu/VMID/resize` and `/move_disk`."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.qemu import moving, resizing
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
    return call.start("resize", str(call.vmid), resizing.Resize.name, arguments)


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/move_disk")
def move_disk(call: Call) -> object:
    """Let a worker bring a disk to another storage, or give it to another machine."""
    call.cluster.require_quorum()
    if call.has("target-vmid") and call.has("storage"):
        text = "either set 'storage' or 'target-vmid', but not both"
        raise bad_parameters({"target-vmid": text, "storage": text})
    if call.has("target-vmid"):
        return _reassign(call)
    if not call.has("storage"):
        text = "both 'storage' and 'target-vmid' missing, either needs to be set"
        raise bad_parameters({"target-vmid": text, "storage": text})
    call.check(f"/storage/{call.text('storage')}", _SPACE)
    names = ("vmid", "disk", "storage", "format", "digest", "delete")
    arguments = {name: call.params[name] for name in names if call.has(name)}
    moving.check_move(call.cluster, call.guest(), arguments)
    return call.start("qmmove", str(call.vmid), moving.Move.name, arguments)


def _reassign(call: Call) -> str:
    number = call.number("target-vmid")
    call.check(f"/vms/{number}", "VM.Config.Disk")
    if number == call.vmid:
        raise bad_parameters({"target-vmid": "must be different than source VMID to reassign disk"})
    names = ("vmid", "disk", "target-vmid", "digest", "target-digest")
    arguments = {name: call.params[name] for name in names if call.has(name)}
    arguments["target-disk"] = call.text("target-disk") or call.text("disk")
    drive = moving.check_reassign(call.cluster, call.guest(), arguments)
    call.check(f"/storage/{storage_of(drive.volume)}", _SPACE)
    task_id = f"{call.vmid}-{call.text('disk')}>{number}-{arguments['target-disk']}"
    return call.start("qmmove", task_id, moving.Reassign.name, arguments)
