"""Names of volumes: what storages read out of them, and which ones new volumes get."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from stockman_lab.pve.errors import bad_parameters
from stockman_lab.pve.formats.format_error import FormatError

DIRECTORIES = frozenset({"dir", "nfs", "cifs", "cephfs", "btrfs"})
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
    if storage_type == "zfspool":
        return _in_zfs(name)
    if storage_type == "rbd":
        return _in_rbd(name)
    if storage_type in ("lvm", "lvmthin"):
        return _in_lvm(name, thin=storage_type == "lvmthin")
    return _in_backup_server(name)


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


FOLDERS = {
    "images": "images",
    "rootdir": "private",
    "iso": "template/iso",
    "vztmpl": "template/cache",
    "backup": "dump",
    "snippets": "snippets",
    "import": "import",
}
"""Where a file storage keeps each kind of content."""

_BROUGHT = {
    "iso": (re.compile(rf"[^/]+{ISO_EXTENSION}"), "wrong file extension"),
    "vztmpl": (re.compile(rf"[^/]+{TEMPLATE_EXTENSION}"), "wrong file extension"),
    "import": (
        re.compile(r"[a-zA-Z0-9\-.+=_]+\.(?:ova|qcow2|raw|vmdk)"),
        "invalid filename or wrong extension",
    ),
}


def normal_file_name(name: str) -> str:
    """A name without folders, in which everything unusual is an underscore."""
    bare = re.sub(r"^.*[/\\]", "", name.removesuffix("\n"))
    return re.sub(r"[^a-zA-Z0-9_.-]", "_", bare)


def brought_file(content: str, name: str) -> str:
    """The name under which an upload or download is kept; refuses what is not of that content."""
    file = normal_file_name(name)
    if content not in _BROUGHT:
        raise bad_parameters({"content": f"upload content type '{content}' not allowed"})
    pattern, complaint = _BROUGHT[content]
    if not pattern.fullmatch(file):
        raise bad_parameters({"filename": complaint})
    return file


def backup_file(kind: str, vmid: int, at: datetime, extension: str) -> str:
    """The name of a backup: `vzdump-qemu-100-2026_01_31-02_00_00.vma.zst`."""
    return f"vzdump-{kind}-{vmid}-{at:%Y_%m_%d-%H_%M_%S}.{extension}"


MOST_VOLUMES = 1024
_WITH_SUBVOLUMES = frozenset({"dir", "btrfs", "zfspool"})
_NO_IMAGES = frozenset({"pbs"})
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


def image_name(storage_type: str, vmid: int, name: str) -> str:
    """The name of an image with the folder that file storages keep it in."""
    return f"{vmid}/{name}" if storage_type in DIRECTORIES else name


def new_disk(storage_type: str, existing: Iterable[str], vmid: int, form: str = "raw") -> str:
    """The name of a new disk; raises `FormatError` where there can be none."""
    name = free_disk(storage_type, existing, vmid, form)
    check_new_name(storage_type, vmid, form, name)
    return image_name(storage_type, vmid, name)


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
    if storage_type == "zfspool":
        renamed = re.sub(r"^subvol-", "basevol-", renamed)
    if storage_type in DIRECTORIES:
        above = f"{volume_name.base_owner}/{volume_name.base}/" if volume_name.base else ""
        return f"{above}{volume_name.owner}/{renamed}"
    return f"{volume_name.base}/{renamed}" if volume_name.base else renamed


def name_of_clone(storage_type: str, base: str, existing: Iterable[str], vmid: int) -> str:
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
