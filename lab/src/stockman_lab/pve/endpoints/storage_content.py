"""`/nodes/NODE/storage/STORAGE/content`: volumes of a storage."""

from __future__ import annotations

import math
from collections.abc import Callable

from stockman_lab.pve import space
from stockman_lab.pve.api.call import Call, Deferred
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.new_volume import check_new_name, free_disk, placed
from stockman_lab.pve.formats.sizes import content_bytes
from stockman_lab.pve.formats.volume_name import parse_volume_id
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.storage_locks import PATIENCE, StorageBusy, lock_wait
from stockman_lab.pve.storages import attributes, removing
from stockman_lab.pve.storages.access import check_volume_access, may_read, named_volume
from stockman_lab.pve.storages.rows import formats_of, volume_rows

_IN_NAMES = ("raw", "qcow2", "vmdk")


@endpoint("GET", "/nodes/{node}/storage/{storage}/content")
def content(call: Call) -> object:
    space.configured(call.cluster, call.text("storage"))
    storage = space.activate(call.cluster, call.text("storage"), call.node)
    rows = volume_rows(
        call.cluster, storage, call.node, content=call.text("content"), vmid=call.vmid
    )
    return [row for row in rows if may_read(call, str(row["volid"]))]


@endpoint("POST", "/nodes/{node}/storage/{storage}/content")
def allocate(call: Call) -> object:
    """Make a disk; who asks waits until the storage has done it."""
    size = _size(call.text("size"))
    name = call.text("filename")
    form = _format(call, name)
    storage = space.activate(call.cluster, call.text("storage"), call.node)
    form = form or formats_of(storage)[1]
    if form == "subvol" and storage.is_files and size:
        raise die("storage does not support subvol quotas")
    new = space.NewVolume(_placed(call, storage, form, name), "images", form, size, call.vmid)
    try:
        made = space.allocate(call.cluster, storage, call.node, new)
    except StorageBusy as error:
        return Deferred(PATIENCE, _refusing(error))
    return Deferred(lock_wait(call.cluster, storage, call.node.name), lambda: made.id)


@endpoint("GET", "/nodes/{node}/storage/{storage}/content/{volume}")
def info(call: Call) -> object:
    volid = _volume_id(call, "volume")
    parsed = check_volume_access(call, volid)
    storage = space.configured(call.cluster, volid.partition(":")[0])
    return attributes.volume_info(call, storage, parsed, volid)


@endpoint("DELETE", "/nodes/{node}/storage/{storage}/content/{volume}")
def delete(call: Call) -> object:
    """Destroy a volume; with a delay, who asks waits so long for it at most."""
    volid = _volume_id(call, "volume")
    storage, parsed = named_volume(call, volid)
    if parsed.content == "backup" and parsed.owner:
        call.check(f"/storage/{storage.id}", "Datastore.AllocateSpace")
        call.check(f"/vms/{parsed.owner}", "VM.Backup")
    else:
        call.check(f"/storage/{storage.id}", "Datastore.Allocate")
    seconds = call.cluster.around.dice.between(removing.FIRST_SECONDS, removing.LAST_SECONDS)
    owner = f"{parsed.owner}@" if parsed.owner is not None else ""
    upid = call.start(
        "imgdel",
        f"{owner}{storage.id}",
        removing.DELETE_VOLUME,
        {"volid": volid, "seconds": seconds},
    )
    if not call.has("delay"):
        return upid
    return Deferred(min(math.ceil(seconds), call.number("delay")), lambda: _outcome(call, upid))


def _size(text: str) -> int:
    try:
        return content_bytes(text)
    except FormatError:
        raise bad_parameters({"size": f"unable to parse size '{text}'"}) from None


def _format(call: Call, name: str) -> str:
    """The format that is asked for, by itself or with the name."""
    text = call.text("format")
    _, dot, extension = name.rpartition(".")
    if not dot or extension not in _IN_NAMES:
        return text
    if text and text != extension:
        raise bad_parameters({"format": f"different storage formats ({text} != {extension})"})
    return extension


def _placed(call: Call, storage: Storage, form: str, name: str) -> str:
    try:
        if not name:
            names = [
                volume.name for volume in space.volumes_on(call.cluster, storage, call.node.name)
            ]
            name = free_disk(storage.type, names, call.vmid, form)
        check_new_name(storage.type, call.vmid, form, name)
    except FormatError as error:
        raise die(error.message) from None
    return placed(storage.type, call.vmid, name)


def _volume_id(call: Call, parameter: str) -> str:
    """The id of a volume, whose storage may be left out."""
    storage, volume = call.text("storage"), call.text(parameter)
    if ":" not in volume:
        return f"{storage}:{volume}"
    try:
        named, _ = parse_volume_id(volume)
    except FormatError as error:
        raise bad_parameters({"volume": f"{error.message}\n"}) from None
    if named != storage:
        raise bad_parameters({"volume": f"storage ID mismatch ({named} != {storage})\n"})
    return volume


def _refusing(error: ApiError) -> Callable[[], object]:
    def refuse() -> object:
        raise error

    return refuse


def _outcome(call: Call, upid: str) -> object:
    task = call.cluster.state.tasks[upid]
    if task.is_running:
        return upid
    if task.exit_status == "OK" or task.exit_status.startswith("WARNINGS"):
        return None
    raise die(task.exit_status)
