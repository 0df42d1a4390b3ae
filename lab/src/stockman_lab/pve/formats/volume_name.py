"""Names of volumes: what each type of storage reads out of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stockman_lab.pve.formats.format_error import FormatError

DIRECTORIES = frozenset({"dir", "nfs", "cifs", "cephfs", "btrfs", "glusterfs"})
"""Types whose volumes are files."""

ISO_EXTENSION = r"\.(?:[iI][sS][oO]|[iI][mM][gG])"
TEMPLATE_EXTENSION = r"\.(?i:tar(?!\.)|tar\.(?:gz|xz|zst|bz2))"
BACKUP_EXTENSION = r"\.(?:tgz|(?:tar|vma)(?:\.(?:gz|lzo|zst|bz2))?)"

_ID = re.compile(r"([a-z][a-z0-9\-_.]*[a-z0-9]):(.+)$", re.IGNORECASE | re.ASCII)
_OWNER = r"(\d{1,1000})"
_SAFE = r"[ a-zA-Z0-9\-.+=_]"
_LINKED = re.compile(rf"{_OWNER}/(\S+)/{_OWNER}/(\S+)", re.ASCII)
_IMAGE = re.compile(rf"{_OWNER}/(\S+)", re.ASCII)
_OWNED_FILE = re.compile(r"(vm-|base-|subvol-)\d+-[^/\s]+\.(raw|qcow2|vmdk|subvol)", re.ASCII)
_FREE_FILE = re.compile(r"(base-)?[^/\s]+\.(raw|qcow2|vmdk|subvol)", re.ASCII)
_SNAPSHOT_FILE = re.compile(r"snap-.*\.qcow2")
_ISO = re.compile(rf"iso/([^/]+{ISO_EXTENSION})")
_TEMPLATE = re.compile(rf"vztmpl/([^/]+{TEMPLATE_EXTENSION})")
_BACKUP = re.compile(rf"backup/([^/]+{BACKUP_EXTENSION})")
_BACKUP_OWNER = re.compile(rf"vzdump-(?:openvz|lxc|qemu)-{_OWNER}-.+", re.ASCII)
_SNIPPET = re.compile(r"snippets/([^/]+)")
_OVA_PART = re.compile(rf"import/({_SAFE}+\.ova/{_SAFE}+\.(qcow2|raw|vmdk))", re.ASCII)
_IMPORT = re.compile(rf"import/({_SAFE}+\.(ova|ovf|qcow2|raw|vmdk))", re.ASCII)
_ZFS = re.compile(
    rf"(?:((?:base|basevol)-{_OWNER}-\S+)/)?((base|basevol|vm|subvol)-{_OWNER}-\S+)", re.ASCII
)
_RBD = re.compile(rf"(?:(base-{_OWNER}-\S+)/)?((base)?(?:vm)?-{_OWNER}-\S+)", re.ASCII)
_LVM_NAME = re.compile(r"[a-z0-9][a-z0-9\-_.]*[a-z0-9]", re.IGNORECASE | re.ASCII)
_LVM = re.compile(rf"vm-{_OWNER}-\S+", re.ASCII)
_THIN = re.compile(rf"(vm|base)-{_OWNER}-\S+", re.ASCII)
_ISCSI = re.compile(r"\d+\.\d+\.\d+\.([^/\s]+)", re.ASCII)
_PBS = re.compile(r"backup/(([^\s_]+)/([^\s_]+)/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)", re.ASCII)


@dataclass(frozen=True, slots=True)
class VolumeName:
    """What the name of a volume says about it."""

    content: str
    """images, iso, vztmpl, backup, snippets or import"""
    name: str
    """Without folders and without the image it is based on."""
    owner: int | None = None
    base: str = ""
    """The image that it is a linked clone of, or nothing."""
    base_owner: int | None = None
    is_base: bool = False
    """Whether others may be linked clones of it."""
    format: str = "raw"


def parse_volume_id(text: str) -> tuple[str, str]:
    """Storage and name of a volume; raises `FormatError`."""
    found = _ID.match(text)
    if not found:
        raise FormatError(f"unable to parse volume ID '{text}'")
    return found[1], found[2]


def storage_of(text: str) -> str:
    """The storage of a volume; nothing if the text names none."""
    found = _ID.match(text)
    return found[1] if found else ""


def parse_volume_name(storage_type: str, name: str) -> VolumeName:
    """What a storage of this type reads out of a name; raises `FormatError`."""
    if storage_type in DIRECTORIES:
        return _in_directory(name)
    if storage_type in ("zfspool", "zfs"):
        return _in_zfs(name)
    if storage_type == "rbd":
        return _in_rbd(name)
    if storage_type in ("lvm", "lvmthin"):
        return _in_lvm(name, thin=storage_type == "lvmthin")
    if storage_type == "pbs":
        return _in_backup_server(name)
    found = _ISCSI.fullmatch(name)
    if not found:
        raise FormatError(f"unable to parse iscsi volume name '{name}'")
    return VolumeName("images", found[1])


def file_format(file: str) -> tuple[str, bool]:
    """Format of an image file by its name, and whether it is a base image."""
    found = _OWNED_FILE.fullmatch(file)
    if found:
        return found[2], found[1] == "base-"
    if _SNAPSHOT_FILE.fullmatch(file):
        raise FormatError(f"'{file}' is a snapshot filename, not a volume!")
    found = _FREE_FILE.fullmatch(file)
    if not found:
        raise FormatError(f"unable to parse volume filename '{file}'")
    return found[2], bool(found[1])


def _in_directory(name: str) -> VolumeName:
    if found := _LINKED.fullmatch(name):
        file_format(found[2])
        form, is_base = file_format(found[4])
        owner, base_owner = int(found[3]), int(found[1])
        return VolumeName("images", found[4], owner, found[2], base_owner, is_base, form)
    if found := _IMAGE.fullmatch(name):
        form, is_base = file_format(found[2])
        return VolumeName("images", found[2], int(found[1]), is_base=is_base, format=form)
    if found := _BACKUP.fullmatch(name):
        owner_found = _BACKUP_OWNER.fullmatch(found[1])
        return VolumeName("backup", found[1], int(owner_found[1]) if owner_found else None)
    for content, pattern in (("iso", _ISO), ("vztmpl", _TEMPLATE), ("snippets", _SNIPPET)):
        if found := pattern.fullmatch(name):
            return VolumeName(content, found[1])
    if found := _OVA_PART.fullmatch(name):
        return VolumeName("import", found[1], format=f"ova+{found[2]}")
    if found := _IMPORT.fullmatch(name):
        return VolumeName("import", found[1], format=found[2])
    raise FormatError(f"unable to parse directory volume name '{name}'")


def _in_zfs(name: str) -> VolumeName:
    found = _ZFS.fullmatch(name)
    if not found:
        raise FormatError(f"unable to parse zfs volume name '{name}'")
    base, base_owner, own, prefix, owner = found.groups()
    return VolumeName(
        "images",
        own,
        int(owner),
        base or "",
        int(base_owner) if base_owner else None,
        prefix in ("base", "basevol"),
        "subvol" if prefix in ("subvol", "basevol") else "raw",
    )


def _in_rbd(name: str) -> VolumeName:
    found = _RBD.fullmatch(name)
    if not found:
        raise FormatError(f"unable to parse rbd volume name '{name}'")
    base, base_owner, own, is_base, owner = found.groups()
    above = int(base_owner) if base_owner else None
    return VolumeName("images", own, int(owner), base or "", above, bool(is_base))


def _in_lvm(name: str, *, thin: bool) -> VolumeName:
    if not _LVM_NAME.fullmatch(name):
        raise FormatError(f"lvm name '{name}' contains illegal characters")
    if thin and (found := _THIN.fullmatch(name)):
        return VolumeName("images", name, int(found[2]), is_base=found[1] == "base")
    if not thin and (found := _LVM.fullmatch(name)):
        form = "qcow2" if name.endswith(".qcow2") else "raw"
        return VolumeName("images", name, int(found[1]), format=form)
    raise FormatError(f"unable to parse lvm volume name '{name}'")


def _in_backup_server(name: str) -> VolumeName:
    found = _PBS.fullmatch(name)
    if not found:
        raise FormatError(f"unable to parse PBS volume name '{name}'")
    owner = int(found[3]) if re.fullmatch(_OWNER, found[3], re.ASCII) else None
    return VolumeName("backup", found[1], owner, format=f"pbs-{found[2]}")
