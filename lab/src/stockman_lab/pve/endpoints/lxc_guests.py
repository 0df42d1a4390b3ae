"""`/nodes/NODE/lxc`: the list of containers, making one, destroying one."""

from __future__ import annotations

import re

from stockman_lab.pve import guest_ids, space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.mount_point import is_mount
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.guest_config.needs import volume_needs
from stockman_lab.pve.lxc import creating, destroying
from stockman_lab.pve.lxc.rows import list_row
from stockman_lab.pve.lxc.settings import check_keys, owner, settled_values
from stockman_lab.pve.lxc.volumes import mounts_of
from stockman_lab.pve.qemu.rights import check_needs
from stockman_lab.pve.qemu.settings import given_values
from stockman_lab.pve.qemu.shelf import Shelf

_NO_KEYS = frozenset(
    {
        *("node", "vmid", "ostemplate", "storage", "password", "ssh-public-keys", "force"),
        *("restore", "unique", "start", "pool", "bwlimit", "ignore-unpack-errors", "ha-managed"),
        "unprivileged",
    }
)
_BARE_SIZE = re.compile(r"\d+(\.\d+)?", re.ASCII)
_DEFAULT_ROOT = 4


@endpoint("GET", "/nodes/{node}/lxc")
def containers(call: Call) -> object:
    """Rows of containers that the caller may see."""
    return [
        list_row(call.cluster, guest)
        for guest in call.cluster.guests_on(call.node.name, "lxc")
        if call.may(f"/vms/{guest.vmid}", "VM.Audit")
    ]


@endpoint("POST", "/nodes/{node}/lxc")
def create(call: Call) -> object:
    """Reserve an id, and let a worker make the container."""
    if call.flag("restore"):
        raise ApiError(501, f"Method 'POST /nodes/{call.text('node')}/lxc' not implemented")
    call.cluster.require_quorum()
    unprivileged = call.flag("unprivileged", default=True)
    if not unprivileged:
        call.check("/", "Sys.Modify")
    if call.flag("ha-managed"):
        call.check("/", "Sys.Console")
    guest_ids.refuse_taken(call.cluster, call.vmid)
    check_keys(call.text("ssh-public-keys"))
    pool = call.text("pool")
    if call.has("pool") and pool not in call.cluster.state.resource_pools:
        raise die(f"pool '{pool}' does not exist")
    if not call.may(f"/vms/{call.vmid}", "VM.Allocate") and not (
        pool and call.may(f"/pool/{pool}", "VM.Allocate")
    ):
        raise ApiError(403, "Permission check failed")
    values = settled_values(call, given_values(call, _NO_KEYS), pool, unprivileged=unprivileged)
    _check_template(call)
    settings = _with_volumes(call, values)
    creating.first_values(call.cluster, call.vmid, settings)
    guest_ids.reserve(call.cluster, call.node, call.vmid, "lxc")
    arguments = {
        "vmid": call.vmid,
        "settings": settings,
        "unprivileged": unprivileged,
        "ostemplate": call.text("ostemplate"),
        "pool": pool,
        **{name: call.flag(name) for name in ("start", "ha-managed", "ignore-unpack-errors")},
    }
    return call.start("vzcreate", str(call.vmid), creating.Create.name, arguments)


def _check_template(call: Call) -> None:
    volid = call.text("ostemplate")
    if volid == "-":
        raise die("pipe requires cli environment")
    if storage_of(volid):
        content = Shelf(call.cluster, call.node, call.vmid).content_of(volid)
        if content != "vztmpl":
            raise die(f"unable to use volume {volid} - content type needs to be 'vztmpl'")
    check_needs(call, volume_needs(owner(call, creating=True), volid))


def _with_volumes(call: Call, values: dict[str, str]) -> dict[str, str]:
    """Settings whose volumes all name a storage that takes them."""
    storage = call.text("storage", "local")
    settings = {key: value for key, value in values.items() if not is_indexed(key, "unused")}
    for key in filter(is_mount, values):
        if _BARE_SIZE.fullmatch(values[key]):
            settings[key] = f"{storage}:{values[key]}"
    try:
        mounts = mounts_of(settings)
    except FormatError as error:
        raise die(error.text) from None
    if mounts and "rootfs" not in settings:
        raise die("mount points configured, but 'rootfs' not set - aborting")
    for mount in mounts:
        if mount.kind == "volume":
            _check_storage(call, mount.volume.partition(":")[0])
        elif not call.caller.is_root:
            raise die("Only root can pass arbitrary filesystem paths.")
    if not mounts:
        _check_storage(call, storage)
        settings["rootfs"] = f"{storage}:{_DEFAULT_ROOT}"
    return settings


def _check_storage(call: Call, storage: str) -> None:
    space.require_content(space.usable(call.cluster, storage, call.node), "rootdir")
    call.check(f"/storage/{storage}", "Datastore.AllocateSpace")


@endpoint("DELETE", "/nodes/{node}/lxc/{vmid}")
def destroy(call: Call) -> object:
    """Let a worker destroy a container with its volumes."""
    guest = call.guest("lxc")
    purge, force = call.flag("purge"), call.flag("force")
    call.cluster.require_quorum()
    destroying.check(call.cluster, guest, purge=purge, force=force)
    arguments = {
        "vmid": call.vmid,
        "purge": purge,
        "force": force,
        "unreferenced": call.flag("destroy-unreferenced-disks"),
    }
    return call.start("vzdestroy", str(call.vmid), destroying.Destroy.name, arguments)
