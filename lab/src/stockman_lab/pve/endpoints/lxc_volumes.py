"""Volumes of containers: resized, moved, made a template, cloned."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.lxc import volumes

_GUEST = "/nodes/{node}/lxc/{vmid}"
_ALLOCATE_SPACE = "Datastore.AllocateSpace"


@endpoint("PUT", f"{_GUEST}/resize")
def resize(call: Call) -> object:
    call.cluster.require_quorum()
    texts = {name: call.text(name) for name in ("disk", "size", "digest")}
    guest = call.guest("lxc")
    call.cluster.refuse_locked(guest)
    if not call.caller.is_root:
        call.check(f"/vms/{call.vmid}", "VM.Config.Options")  # it asks for every parameter's key
    found = volumes.planned(call.cluster, guest, **texts)
    call.check(f"/storage/{found.volume.storage}", _ALLOCATE_SPACE)
    return call.start("resize", str(call.vmid), volumes.Resize.name, {"vmid": call.vmid, **texts})
