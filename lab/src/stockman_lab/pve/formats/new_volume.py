"""Names that volumes get: new disks, templates, linked clones, cloud-init drives, saved states."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.volume_name import DIRECTORIES, file_format, parse_volume_name

MOST_VOLUMES = 1024
_WITH_SUBVOLUMES = frozenset({"dir", "btrfs", "zfspool"})
_NO_IMAGES = frozenset({"pbs", "iscsi"})
_LVM_EXTENSIONS = {"raw": "", "qcow2": ".qcow2"}


def default_format(storage_type: str, *, chained: bool = False) -> str:
    """Format of a new disk that asks for none; `chained`: snapshots are chains of volumes."""
    return "qcow2" if storage_type == "lvm" and chained else "raw"


def free_disk(storage_type: str, existing: Iterable[str], vmid: int, form: str = "raw") -> str:
    """The name with the lowest free number, without folders.

    Disks of every kind share the numbers, except on file storages that know no subvolumes:
    there each format counts for itself.
    """
    extension = _extension(storage_type, form)
    pattern = (
        rf"(?:vm|base|subvol|basevol)-{vmid}-disk-(\d+)"
        if storage_type in _WITH_SUBVOLUMES
        else rf"(?:vm|base)-{vmid}-disk-(\d+){re.escape(extension)}"
    )
    matcher = re.compile(pattern, re.ASCII)
    taken = {found[1] for name in existing for found in [matcher.search(name)] if found}
    prefix = "subvol" if form == "subvol" else "vm"
    for number in range(MOST_VOLUMES):
        if str(number) not in taken:
            return f"{prefix}-{vmid}-disk-{number}{extension}"
    raise FormatError(f"unable to allocate an image name for VM {vmid}")


def _extension(storage_type: str, form: str) -> str:
    if storage_type in DIRECTORIES:
        return f".{form}"
    return ".qcow2" if storage_type == "lvm" and form == "qcow2" else ""


def placed(storage_type: str, vmid: int, name: str) -> str:
    """The name of an image with the folder that file storages keep it in."""
    return f"{vmid}/{name}" if storage_type in DIRECTORIES else name


def new_disk(storage_type: str, existing: Iterable[str], vmid: int, form: str = "raw") -> str:
    """The name of a new disk; raises `FormatError` where there can be none."""
    name = free_disk(storage_type, existing, vmid, form)
    check_new_name(storage_type, vmid, form, name)
    return placed(storage_type, vmid, name)


def check_new_name(storage_type: str, vmid: int, form: str, name: str) -> None:
    """Refuses a name that a storage would not give to a volume of this guest and format."""
    if storage_type in _NO_IMAGES:
        raise FormatError(f"can't allocate space in {storage_type} storage")
    if storage_type in DIRECTORIES:
        found, _ = file_format(name)
        if found != form:
            raise FormatError(
                f"illegal name '{name}' - wrong extension for format ('{found} != '{form}')"
            )
        return
    if form not in _formats(storage_type):
        raise FormatError(f"unsupported format '{form}'")
    prefix = "subvol" if form == "subvol" else "vm"
    if storage_type != "lvm" and not name.startswith(f"{prefix}-{vmid}-"):
        raise FormatError(f"illegal name '{name}' - should be '{prefix}-{vmid}-*'")
    if storage_type == "lvm":
        _check_lvm_name(vmid, form, name)


def _formats(storage_type: str) -> tuple[str, ...]:
    return {"zfspool": ("raw", "subvol"), "lvm": ("raw", "qcow2")}.get(storage_type, ("raw",))


def _check_lvm_name(vmid: int, form: str, name: str) -> None:
    found = parse_volume_name("lvm", name).format
    if found != form:
        suggested = re.sub(r"\.[^.]+$", "", name) + _LVM_EXTENSIONS[form]
        raise FormatError(
            f"volume name '{name}' does not match requested format '{form}' "
            f"(did you mean '{suggested}'?)"
        )
    if not name.startswith(f"vm-{vmid}-"):
        raise FormatError(f"illegal name '{name}' - should be 'vm-{vmid}-*'")


def base_name(storage_type: str, name: str) -> str:
    """The name of an image once its guest is a template; raises `FormatError`."""
    if storage_type == "lvm":
        raise FormatError("can't create base images in lvm storage")
    volume_name = parse_volume_name(storage_type, name)
    if volume_name.content != "images":
        raise FormatError(f"create_base on wrong vtype '{volume_name.content}'")
    if volume_name.is_base:
        raise FormatError("create_base not possible with base image")
    renamed = re.sub(r"^vm-", "base-", volume_name.name)
    if storage_type in ("zfspool", "zfs"):
        renamed = re.sub(r"^subvol-", "basevol-", renamed)
    if storage_type in DIRECTORIES:
        above = f"{volume_name.base_owner}/{volume_name.base}/" if volume_name.base else ""
        return f"{above}{volume_name.owner}/{renamed}"
    return f"{volume_name.base}/{renamed}" if volume_name.base else renamed


def linked_name(storage_type: str, base: str, existing: Iterable[str], vmid: int) -> str:
    """The name of a linked clone of a base image; raises `FormatError`."""
    if storage_type == "lvm":
        raise FormatError("can't clone images in lvm storage")
    volume_name = parse_volume_name(storage_type, base)
    if not volume_name.is_base:
        raise FormatError("clone_image only works on base images")
    if storage_type == "btrfs" and volume_name.format in ("raw", "subvol"):
        return f"{vmid}/{free_disk(storage_type, existing, vmid, volume_name.format)}"
    if storage_type in DIRECTORIES:
        file = free_disk(storage_type, existing, vmid, "qcow2")
        return f"{volume_name.owner}/{volume_name.name}/{vmid}/{file}"
    name = free_disk(storage_type, existing, vmid, volume_name.format)
    return name if storage_type == "lvmthin" else f"{volume_name.name}/{name}"


def cloud_init_name(
    storage_type: str, vmid: int, form: str = "", *, chained: bool = False
) -> tuple[str, str]:
    """Name without folders and format of a cloud-init drive."""
    name = f"vm-{vmid}-cloudinit"
    if storage_type in DIRECTORIES:
        form = form or "qcow2"
        return f"{name}.{form}", form
    if chained:
        form = form or "qcow2"
        return f"{name}.qcow2" if form == "qcow2" else name, form
    return name, form or "raw"


def state_name(storage_type: str, vmid: int, snapshot: str) -> str:
    """Name without folders of the saved memory of a snapshot."""
    extension = ".raw" if storage_type in DIRECTORIES else ""
    return f"vm-{vmid}-state-{snapshot}{extension}"
