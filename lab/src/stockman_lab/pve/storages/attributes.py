"""Attributes of volumes: size and format on their disk, notes, protection."""

from __future__ import annotations

from stockman_lab.pve import space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.volume_name import VolumeName
from stockman_lab.pve.space import given_size
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.storages.paths import path_of

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
