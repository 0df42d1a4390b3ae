"""`/nodes/NODE/lxc/VMID/migrate`: containers that go to another host."""

from __future__ import annotations

from stockman_lab.pve import space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.ha_manager import is_managed
from stockman_lab.pve.lxc import ha_requests, migrating

_MIGRATE = "/nodes/{node}/lxc/{vmid}/migrate"
_SAME = "1"


@endpoint("GET", _MIGRATE)
def preconditions(call: Call) -> object:
    """Where a container could go."""
    call.cluster.require_quorum()
    guest = call.guest("lxc")
    call.cluster.refuse_locked(guest)
    found: dict[str, object] = {
        "running": int(guest.is_running),
        "allowed-nodes": migrating.allowed_targets(call.cluster, guest),
        "not-allowed-nodes": {},
    }
    if is_managed(call.cluster, guest):
        found["dependent-ha-resources"] = []
    return found


@endpoint("POST", _MIGRATE)
def migrate(call: Call) -> object:
    """Let a worker bring a container to another host."""
    target = call.text("target")
    if target == call.node.name:
        raise bad_parameters({"target": "target is local node."})
    call.cluster.require_quorum()
    if target not in call.cluster.state.hosts:
        raise die(f"no such cluster node '{target}'")
    guest = call.guest("lxc")
    if guest.is_running and not call.flag("online") and not call.flag("restart"):
        raise die("can't migrate running container without --online or --restart")
    storages = _storages(call, target)
    if is_managed(call.cluster, guest):
        arguments = {"vmid": call.vmid, "target": target}
        return call.start("hamigrate", str(call.vmid), ha_requests.HaMigrate.name, arguments)
    more: dict[str, object] = {
        name: call.params[name] for name in ("online", "restart", "timeout") if call.has(name)
    }
    arguments = {"vmid": call.vmid, "target": target, "storages": storages, **more}
    return call.start("vzmigrate", str(call.vmid), migrating.Migrate.name, arguments)


def _storages(call: Call, target: str) -> dict[str, str]:
    """Which storage takes the place of which; the empty name stands for all others."""
    names: dict[str, str] = {}
    text = call.text("target-storage")
    if not text:
        return names
    if text != _SAME:
        call.check(f"/vms/{call.vmid}", "VM.Config.Disk")
    for pair in split_list(text) if text != _SAME else ():
        source, colon, wanted = pair.partition(":")
        name = wanted if colon else source
        _check(call, name, target)
        names[source if colon else ""] = name
    return names


def _check(call: Call, storage: str, target: str) -> None:
    usable = space.usable(call.cluster, storage, call.cluster.host(target))
    call.check(f"/storage/{storage}", "Datastore.AllocateSpace")
    if "rootdir" not in usable.content:
        raise die(f"storage '{storage}' does not support CT rootdirs")
