"""`/nodes/NODE/storage/STORAGE/content`: volumes of a storage."""

from __future__ import annotations

import math
from collections.abc import Callable

from stockman_lab.pve import space
from stockman_lab.pve.api.call import Call, Deferred
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.sizes import content_bytes
from stockman_lab.pve.formats.volume_name import (
    VolumeName,
    check_new_name,
    free_disk,
    image_name,
    parse_volume_id,
)
from stockman_lab.pve.space import PATIENCE, StorageBusy, given_size, lock_wait
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.storages import removing
from stockman_lab.pve.storages.places import path_of
from stockman_lab.pve.storages.removing import check_volume_access, may_read, parse_named_volume
from stockman_lab.pve.storages.rows import formats_of, volume_rows

_QEMU_FORMATS = frozenset({"raw", "qcow2", "vmdk", "subvol"})
_WITH_ATTRIBUTES = frozenset({"dir", "nfs", "cifs", "cephfs", "btrfs", "pbs"})


def volume_info(call: Call, storage: Storage, parsed: VolumeName, volid: str) -> dict[str, object]:
    """What is known of a volume; refused where there is none."""
    name = volid.partition(":")[2]
    path = path_of(storage, name)
    volume = space.find(call.cluster, call.node.name, volid)
    if volume is None:
        raise missing_volume(storage, parsed, volid)
    form = parsed.format if parsed.format in _QEMU_FORMATS else "raw"
    if storage.type == "pbs":
        form = parsed.format
    size = volume.size if parsed.content in ("images", "import") else volume.used
    if storage.is_files:
        size = given_size(storage.type, form, size)  # a file is read as a disk of whole sectors
    if not size and form != "subvol":
        raise die(f"volume '{volid}' has size zero")
    used = 0 if storage.type in ("lvm", "lvmthin") else volume.used
    info: dict[str, object] = {"path": path, "size": size, "used": used, "format": form}
    if parsed.content == "backup" and storage.type in _WITH_ATTRIBUTES:
        info |= {"notes": volume.notes, "protected": int(volume.protected)}
    return info


def missing_volume(storage: Storage, parsed: VolumeName, volid: str) -> ApiError:
    """What storages say of a volume that is not there."""
    options = storage.options
    match storage.type:
        case "zfspool":
            where = f"{options['pool']}/{parsed.name}"
            return die(f"zfs error: cannot open '{where}': dataset does not exist")
        case "lvm" | "lvmthin":
            where = f"{options['vgname']}/{parsed.name}"
            why = f'  Failed to find logical volume "{where}"'
            return die(f"can't get size of '/dev/{where}': {why}")
        case "rbd":
            why = f"rbd: error opening image {parsed.name}: (2) No such file or directory"
            return die(f"rbd error: {why}")
        case _:
            return die(f"volume_size_info on '{volid}' failed - no format")


_IN_NAMES = ("raw", "qcow2", "vmdk")


@endpoint("GET", "/nodes/{node}/storage/{storage}/content")
def content(call: Call) -> object:
    space.find_storage(call.cluster, call.text("storage"))
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
    new = space.NewVolume(_volume_name(call, storage, form, name), "images", form, size, call.vmid)
    try:
        made = space.allocate(call.cluster, storage, call.node, new)
    except StorageBusy as error:
        return Deferred(PATIENCE, _refusing(error))
    return Deferred(lock_wait(call.cluster, storage, call.node.name), lambda: made.id)


@endpoint("GET", "/nodes/{node}/storage/{storage}/content/{volume}")
def info(call: Call) -> object:
    volid = _volume_id(call, "volume")
    parsed = check_volume_access(call, volid)
    storage = space.find_storage(call.cluster, volid.partition(":")[0])
    return volume_info(call, storage, parsed, volid)


@endpoint("DELETE", "/nodes/{node}/storage/{storage}/content/{volume}")
def delete(call: Call) -> object:
    """Destroy a volume; with a delay, who asks waits so long for it at most."""
    volid = _volume_id(call, "volume")
    storage, parsed = parse_named_volume(call, volid)
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


def _volume_name(call: Call, storage: Storage, form: str, name: str) -> str:
    try:
        if not name:
            names = [
                volume.name for volume in space.volumes_on(call.cluster, storage, call.node.name)
            ]
            name = free_disk(storage.type, names, call.vmid, form)
        check_new_name(storage.type, call.vmid, form, name)
    except FormatError as error:
        raise die(error.message) from None
    return image_name(storage.type, call.vmid, name)


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
