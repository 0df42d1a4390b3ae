"""`/nodes/NODE/lxc`: containers."""

from __future__ import annotations

import re

from stockman_lab.pve import guest_ids, space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.formats.mount_point import is_mount
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.container_update import check_container_update
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.guest_config.needs import volume_needs
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_config.views import pending_container_rows, shown_container
from stockman_lab.pve.ha_manager import HaMigrate, HaStart, HaStop, is_managed
from stockman_lab.pve.lxc import creating, migrating, power, volumes
from stockman_lab.pve.lxc.power import interfaces_of
from stockman_lab.pve.lxc.settings import (
    list_row,
    owner,
    settle_change,
    settle_values,
    status_row,
    update,
)
from stockman_lab.pve.lxc.volumes import mounts_of
from stockman_lab.pve.qemu.file_lock import when_unlocked
from stockman_lab.pve.qemu.settings import check_keys, check_needs, given_values, only_for_root
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
    values = settle_values(call, given_values(call, _NO_KEYS), pool, unprivileged=unprivileged)
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
    creating.check_destroy(call.cluster, guest, purge=purge, force=force)
    arguments = {
        "vmid": call.vmid,
        "purge": purge,
        "force": force,
        "unreferenced": call.flag("destroy-unreferenced-disks"),
    }
    return call.start("vzdestroy", str(call.vmid), creating.Destroy.name, arguments)


_RESTRICTED = "env"


@endpoint("GET", "/nodes/{node}/lxc/{vmid}/config")
def config(call: Call) -> object:
    """The configuration; the environment only for who may change it."""
    current, snapshot = call.flag("current"), call.text("snapshot")
    shown = shown_container(call.guest("lxc").config, current=current, snapshot=snapshot)
    if not _sees_all(call):
        shown.pop(_RESTRICTED, None)
    return shown


@endpoint("GET", "/nodes/{node}/lxc/{vmid}/pending")
def pending(call: Call) -> object:
    rows = pending_container_rows(call.guest("lxc").config)
    return [row for row in rows if row["key"] != _RESTRICTED or _sees_all(call)]


@endpoint("PUT", "/nodes/{node}/lxc/{vmid}/config")
def update_config(call: Call) -> object:
    """ConfigChange the configuration as soon as nobody else does."""
    call.cluster.require_quorum()
    return when_unlocked(call, lambda: _change_config(call), "lxc")


def _change_config(call: Call) -> object:
    guest = call.guest("lxc")
    guest_config: GuestConfig = guest.config
    given = given_values(call, ("node", "vmid", "digest"))
    check_container_update(guest_config, call.text("digest"))
    update(call.cluster, guest, settle_change(call, guest_config, given))
    return None


def _sees_all(call: Call) -> bool:
    return call.may(f"/vms/{call.vmid}", "VM.Config.Options")


@endpoint("GET", "/nodes/{node}/lxc/{vmid}/interfaces")
def interfaces(call: Call) -> object:
    """Links of a container; of one that does not run, nothing at all."""
    guest = call.guest("lxc")
    if not guest.is_running:
        return None
    return [interface.row() for interface in interfaces_of(call.cluster, guest)]


_STATUS = "/nodes/{node}/lxc/{vmid}/status"


@endpoint("GET", f"{_STATUS}/current")
def current(call: Call) -> object:
    return status_row(call.cluster, call.guest("lxc"))


@endpoint("POST", f"{_STATUS}/start")
def start(call: Call) -> object:
    only_for_root(call, "skiplock")
    guest = _stopped(call)
    call.cluster.require_quorum()
    if is_managed(call.cluster, guest):
        return _began(call, "hastart", HaStart.name)
    return _began(call, "vzstart", power.Start.name, "skiplock")


@endpoint("POST", f"{_STATUS}/stop")
def stop(call: Call) -> object:
    only_for_root(call, "skiplock")
    if is_managed(call.cluster, _running(call)):
        if call.flag("overrule-shutdown"):
            raise bad_parameters({"overrule-shutdown": "Not applicable for HA resources."})
        return _began(call, "hastop", HaStop.name, timeout=0)
    return _began(call, "vzstop", power.Stop.name, "skiplock", "overrule-shutdown")


@endpoint("POST", f"{_STATUS}/shutdown")
def shutdown(call: Call) -> object:
    timeout = call.number("timeout", power.Shutdown.default_timeout)
    if is_managed(call.cluster, _running(call)):
        return _began(call, "hastop", HaStop.name, timeout=timeout)
    return _began(call, "vzshutdown", power.Shutdown.name, "forceStop", timeout=timeout)


def _began(call: Call, task_type: str, work: str, *flags: str, **more: object) -> str:
    arguments = {"vmid": call.vmid, **more}
    arguments |= {name: 1 for name in flags if call.flag(name)}
    return call.start(task_type, str(call.vmid), work, arguments)


def _running(call: Call, word: str = "CT") -> Guest:
    guest = call.guest("lxc")
    if not guest.is_running:
        raise die(f"{word} {call.vmid} not running")
    return guest


def _stopped(call: Call) -> Guest:
    guest = call.guest("lxc")
    if guest.is_running:
        raise die(f"CT {call.vmid} already running")
    return guest


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
    found = volumes.plan_growth(call.cluster, guest, **texts)
    call.check(f"/storage/{found.volume.storage}", _ALLOCATE_SPACE)
    return call.start("resize", str(call.vmid), volumes.Resize.name, {"vmid": call.vmid, **texts})


_MIGRATE = "/nodes/{node}/lxc/{vmid}/migrate"

_SAME = "1"


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
        return call.start("hamigrate", str(call.vmid), HaMigrate.name, arguments)
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
        _check_target_storage(call, name, target)
        names[source if colon else ""] = name
    return names


def _check_target_storage(call: Call, storage: str, target: str) -> None:
    usable = space.usable(call.cluster, storage, call.cluster.host(target))
    call.check(f"/storage/{storage}", "Datastore.AllocateSpace")
    if "rootdir" not in usable.content:
        raise die(f"storage '{storage}' does not support CT rootdirs")
