"""Who may read a volume, who uses it, and the work of `imgdel`."""

from __future__ import annotations

from stockman_lab.pve import space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.volume_name import VolumeName, parse_volume_id, parse_volume_name
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.host import Host
from stockman_lab.pve.storage import Storage, Volume
from stockman_lab.pve.storages.places import path_of
from stockman_lab.pve.workers import Job, Work, register

_FILES = frozenset({"iso", "vztmpl", "import"})
_DISKS = frozenset({"images", "rootdir"})


def parse_named_volume(call: Call, volid: str) -> tuple[Storage, VolumeName]:
    """Storage and meaning of a volume id; whether there is such a volume is another question."""
    try:
        storage_id, name = parse_volume_id(volid)
        storage = space.find_storage(call.cluster, storage_id)
        return storage, parse_volume_name(storage.type, name)
    except FormatError as error:
        raise die(error.message) from None


def check_volume_access(call: Call, volid: str, *, vmid: int = 0, content: str = "") -> VolumeName:
    """Refuse who may not read a volume; `vmid` is the guest that it is wanted for, 0: none."""
    if ":" not in volid:
        if not call.caller.is_root:
            raise die("Only root can pass arbitrary filesystem paths.")
        return VolumeName("images", volid)
    storage, parsed = parse_named_volume(call, volid)
    right = parsed.content == content or (content == "rootdir" and parsed.content == "images")
    if content and not right:
        raise die(f"unable to use volume {volid} - content type needs to be '{content}'")
    _check(call, f"/storage/{storage.id}", parsed, vmid, volid)
    return parsed


def may_read(call: Call, volid: str) -> bool:
    """Whether the caller may read a volume."""
    try:
        check_volume_access(call, volid)
    except ApiError:
        return False
    return True


def _check(call: Call, path: str, parsed: VolumeName, vmid: int, volid: str) -> None:
    if call.may(path, "Datastore.Allocate"):
        return
    if parsed.content in _FILES:
        call.check(path, "Datastore.AllocateSpace", "Datastore.Audit", any_of=True)
    elif parsed.owner is not None and parsed.owner == vmid:
        return
    elif parsed.content == "backup" and parsed.owner:
        call.check(path, "Datastore.AllocateSpace")
        call.check(f"/vms/{parsed.owner}", "VM.Backup")
    elif parsed.content in _DISKS and parsed.owner:
        call.check(path, "Datastore.Audit")
        call.check(f"/vms/{parsed.owner}", "VM.Config.Disk")
    else:
        raise die(f"missing privileges to access {volid}")


def running_user(cluster: Cluster, volume: Volume) -> Guest | None:
    """A running guest with a volume among its disks; None: there is none."""
    for guest in cluster.state.guests.values():
        if not guest.is_running or volume.host not in ("", guest.node):
            continue
        for value in guest.config.values.values():
            if value.removeprefix("file=").split(",", 1)[0] == volume.id:
                return guest
    return None


def busy_text(storage: Storage, volume: Volume) -> str:
    """How a storage refuses to destroy what somebody has open. Empty: it does not mind."""
    options = storage.options
    match storage.type:
        case "zfspool":
            where = f"{options['pool']}/{volume.name.rpartition('/')[2]}"
            return f"zfs error: cannot destroy '{where}': dataset is busy"
        case "lvm" | "lvmthin":
            where = f"{options['vgname']}/{volume.name}"
            return f"lvremove '{where}' error:   Logical volume {where} in use."
        case "rbd":
            name = volume.name.rpartition("/")[2]
            return f"rbd rm '{name}' error: rbd: error: image still has watchers"
        case _:
            return ""


DELETE_VOLUME = "storage.delete-volume"
FIRST_SECONDS, LAST_SECONDS = 0.3, 1.5
"""How long it takes."""


@register
class DeleteVolume(Work):
    """Destroys a volume: `volid`, and `seconds` that it takes."""

    name = DELETE_VOLUME

    def begin(self, job: Job) -> float:
        return float(str(job.arguments["seconds"]))

    def finish(self, job: Job) -> None:
        host = job.cluster.host(job.task.node)
        volid = job.text("volid")
        storage = space.activate(job.cluster, volid.partition(":")[0], host)
        volume = space.find(job.cluster, host.name, volid)
        if volume is None:
            _missing(job, storage, volid.partition(":")[2])
        else:
            destroy(job.cluster, storage, host, volid)
        job.log(f"Removed volume '{volid}'")


def destroy(cluster: Cluster, storage: Storage, host: Host, volid: str) -> None:
    """Destroy a volume that is there; refused where it is protected or somebody needs it."""
    volume = space.find(cluster, host.name, volid)
    if volume is None:
        return
    if volume.protected:
        raise die(f"cannot remove protected volume '{volume.name}' on '{storage.id}'")
    busy = busy_text(storage, volume)
    if busy and running_user(cluster, volume) is not None:
        raise die(busy)
    space.free(cluster, volume)


def _missing(job: Job, storage: Storage, name: str) -> None:
    """What storages say of a volume that is not there: some do not mind."""
    if storage.is_files:
        job.log(f"disk image '{path_of(storage, name)}' does not exist")
    elif storage.type == "lvm":
        where = f"{storage.options['vgname']}/{name}"
        raise die(f"lvremove '{where}' error:   Failed to find logical volume \"{where}\"")
    elif storage.type == "rbd":
        why = f"rbd: error opening image {name}: (2) No such file or directory"
        raise die(f"rbd error: {why}")
