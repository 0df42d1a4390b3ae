"""Who may read a volume."""

from __future__ import annotations

from stockman_lab.pve import space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.volume_name import VolumeName, parse_volume_id, parse_volume_name
from stockman_lab.pve.storage import Storage

_FILES = frozenset({"iso", "vztmpl", "import"})
_DISKS = frozenset({"images", "rootdir"})


def named_volume(call: Call, volid: str) -> tuple[Storage, VolumeName]:
    """Storage and meaning of a volume id; whether there is such a volume is another question."""
    try:
        storage_id, name = parse_volume_id(volid)
        storage = space.configured(call.cluster, storage_id)
        return storage, parse_volume_name(storage.type, name)
    except FormatError as error:
        raise die(error.message) from None


def check_volume_access(call: Call, volid: str, *, vmid: int = 0, content: str = "") -> VolumeName:
    """Refuse who may not read a volume; `vmid` is the guest that it is wanted for, 0: none."""
    if ":" not in volid:
        if not call.caller.is_root:
            raise die("Only root can pass arbitrary filesystem paths.")
        return VolumeName("images", volid)
    storage, parsed = named_volume(call, volid)
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
