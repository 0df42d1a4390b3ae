"""Volumes of containers: resized, moved, made a template, cloned."""

from __future__ import annotations

from copy import deepcopy

from stockman_lab.pve import guest_ids, space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.container_nic import parse_container_nic
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.guest_config.stored import stored_in_container
from stockman_lab.pve.guest_config.volume_needs import bridge_needs
from stockman_lab.pve.lxc import cloning, moving, resizing, templating
from stockman_lab.pve.lxc.settings import owner, refuse_together
from stockman_lab.pve.lxc.snapshots import all_have_feature, snapshot_of
from stockman_lab.pve.lxc.volumes import shelf_of
from stockman_lab.pve.qemu.rights import check_needs
from stockman_lab.pve.qemu.waiting import when_unlocked

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
    found = resizing.planned(call.cluster, guest, **texts)
    call.check(f"/storage/{found.volume.storage}", _ALLOCATE_SPACE)
    return call.start("resize", str(call.vmid), resizing.Resize.name, {"vmid": call.vmid, **texts})


@endpoint("POST", f"{_GUEST}/template")
def template(call: Call) -> object:
    """Let a worker make a template; the reply says nothing about it."""

    def begin() -> object:
        templating.check(call.cluster, call.guest("lxc"))
        call.start("vztemplate", str(call.vmid), templating.Template.name, {"vmid": call.vmid})
        return None

    call.cluster.require_quorum()
    return when_unlocked(call, begin, "lxc")


@endpoint("GET", f"{_GUEST}/feature")
def feature(call: Call) -> object:
    guest, snapshot = call.guest("lxc"), call.text("snapname")
    values = snapshot_of(guest, snapshot) if snapshot else guest.config.values
    shelf = shelf_of(call.cluster, guest)
    return {"hasFeature": int(all_have_feature(shelf, call.text("feature"), values, snapshot))}


@endpoint("POST", f"{_GUEST}/move_volume")
def move_volume(call: Call) -> object:
    """Let a worker move a volume to another storage, or to another container."""
    storage, target = call.text("storage"), call.number("target-vmid")
    if storage and target:
        raise die("either set storage or target-vmid, but not both")
    if not storage and not target:
        refuse_together(
            "both 'storage' and 'target-vmid' missing, either needs to be set",
            *("target-vmid", "storage"),
        )
    call.cluster.require_quorum()
    return _reassign(call, target) if target else _to_storage(call, storage)


def _to_storage(call: Call, storage: str) -> object:
    call.check(f"/storage/{storage}", _ALLOCATE_SPACE)
    guest, key, delete = call.guest("lxc"), call.text("volume"), call.flag("delete")

    def begin() -> object:
        moving.check_storage_move(call.cluster, guest, key, call.text("digest"), delete=delete)
        guest.config.values["lock"] = "disk"
        guest.changed_at = call.now
        arguments = {"vmid": call.vmid, "volume": key, "storage": storage, "delete": delete}
        return call.start("move_volume", str(call.vmid), moving.MoveToStorage.name, arguments)

    return when_unlocked(call, begin, "lxc")


def _reassign(call: Call, target: int) -> object:
    call.check(f"/vms/{target}", "VM.Config.Disk")
    key = call.text("volume")
    asked = {
        "vmid": str(call.vmid),
        "target-vmid": str(target),
        "volume": key,
        "target-volume": call.text("target-volume", key),
        "digest": call.text("digest"),
        "target-digest": call.text("target-digest"),
    }
    mount = moving.check_reassign(call.cluster, call.node.name, asked)
    call.check(f"/storage/{mount.volume.partition(':')[0]}", _ALLOCATE_SPACE)
    task = f"{call.vmid}-{key}>{target}-{asked['target-volume']}"
    return call.start("move_volume", task, moving.Reassign.name, asked)


@endpoint("POST", f"{_GUEST}/clone")
def clone(call: Call) -> object:
    """Take an id and lock the original, and let a worker copy."""
    cluster, pool, storage = call.cluster, call.text("pool"), call.text("storage")
    if call.has("pool") and pool not in cluster.state.resource_pools:
        raise die(f"pool '{pool}' does not exist")
    target = _target(call)
    if storage:
        _check_storage(call, storage, target)
    cluster.require_quorum()
    guest, newid = call.guest("lxc"), call.number("newid")
    cluster.refuse_locked(guest)
    guest_ids.refuse_taken(cluster, newid)
    full = call.flag("full", default=not guest.is_template)
    found = cloning.copy_of(cluster, guest, call.text("snapname"), storage, full=full)
    _check_rights(call, found)
    if target and not found.is_shared:
        raise die(f"can't clone CT to node '{target}' (CT uses local storage)")
    _write(call, guest, found)
    arguments = {
        "vmid": call.vmid,
        "newid": newid,
        "mounts": found.mounts,
        "full": full,
        "storage": storage,
        "pool": pool,
        "target": target,
    }
    return call.start("vzclone", str(call.vmid), cloning.Clone.name, arguments)


def _target(call: Call) -> str:
    name = call.text("target")
    if not name or name in (call.node.name, "localhost"):
        return ""
    if name not in call.cluster.state.hosts:
        raise die(f"no such cluster node '{name}'")
    return name


def _check_storage(call: Call, storage: str, target: str) -> None:
    usable = space.usable(call.cluster, storage, call.node)
    if target:
        space.usable(call.cluster, storage, call.cluster.host(target))
        if not usable.is_shared:
            raise die(f"can't clone to non-shared storage '{storage}'")


def _check_rights(call: Call, found: cloning.Copied) -> None:
    for storage in found.storages:
        call.check(f"/storage/{storage}", _ALLOCATE_SPACE)
    for key, value in found.values.items():
        if is_indexed(key, "net"):
            check_needs(call, bridge_needs(owner(call), parse_container_nic(value).options))


def _write(call: Call, source: Guest, found: cloning.Copied) -> None:
    guest = guest_ids.reserve(call.cluster, call.node, call.number("newid"), "lxc")
    for key in ("hostname", "description"):
        if call.text(key):
            found.values[key] = stored_in_container(key, call.text(key))
    guest.config.values |= found.values
    guest.config.raw = [list(pair) for pair in source.config.raw]
    source.config.values["lock"] = "disk"
    source.changed_at = call.now
    state = call.cluster.state
    if call.vmid in state.guest_firewalls:
        state.guest_firewalls[guest.vmid] = deepcopy(state.guest_firewalls[call.vmid])
