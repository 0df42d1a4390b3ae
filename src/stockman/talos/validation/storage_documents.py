"""Rules of documents about volumes, LVM and RAID."""

from __future__ import annotations

from stockman.model.pattern import pattern
from stockman.talos.patches.scalars import parse_nanoseconds, parse_size
from stockman.talos.validation.machine_section import check_keys
from stockman.talos.validation.report import ConfigValue, Rule, not_negative, required
from stockman.talos.validation.shared_rules import check_expression, check_least_time, matches

_SYSTEM = ("STATE", "EPHEMERAL", "IMAGECACHE")
_PROMOTABLE = ("ETCD", "CRI", "KUBELET", "LOG")
_VOLUME_NAME = pattern(r"[A-Za-z0-9-]*")
_LONGEST_VOLUME_NAME = 34
_PCRS = 24
_LEAST_SCRUB = parse_nanoseconds("10s")
_XFS = "xfs"
_FILESYSTEMS = ("none", _XFS, "ext4")
_FILESYSTEMS_114 = (*_FILESYSTEMS, "btrfs")


def _check_volume_name(document: ConfigValue, longest: int = _LONGEST_VOLUME_NAME) -> None:
    name = document["name"]
    wrong = ""
    if not 1 <= len(name.text.encode()) <= longest:
        wrong = f"it must have 1 to {longest} characters"
    elif not _VOLUME_NAME.fullmatch(name.text):
        wrong = "it may only contain letters, digits and -"
    if wrong:
        what = f"{name.name} is not a valid volume name"
        name.error("machine.name", what, why=wrong, fix="rename it")


def _check_system_volume(volume: ConfigValue) -> None:
    name = volume["name"].text
    known = (*_SYSTEM, *_PROMOTABLE) if volume.minor >= 14 else _SYSTEM
    if name not in known:
        volume["name"].error(
            "machine.volume",
            f"{name!r} is not a system volume",
            why=f"the system volumes are {', '.join(known)}",
            fix="use one of these, or a UserVolumeConfig for your own volume",
        )
        return
    _check_constraints(volume)
    _check_provisioning(volume["provisioning"], needed=False)
    _check_encryption(volume["encryption"])
    _check_maintenance(volume)


def _check_constraints(volume: ConfigValue) -> None:
    name, mount = volume["name"].text, volume["mount"]
    provisioning = volume["provisioning"]
    if name == "STATE":
        if _is_provisioned(provisioning):
            _report_unsupported(provisioning, "Talos manages its disk and size", "remove it")
        for key in volume.down("encryption.keys").items:
            if key["lockToState"].flag:
                _report_unsupported(key["lockToState"], "STATE cannot lock itself", "remove it")
    if volume.minor < 14:
        return
    if name in ("STATE", "IMAGECACHE") and not mount.is_empty:
        _report_unsupported(mount, f"Talos manages the mount of {name}", "remove it")
    if name == "IMAGECACHE" and volume["filesystem"]["xfs"].present:
        _report_unsupported(volume["filesystem"], "the image cache is ext4", "remove it")
    if name in _PROMOTABLE and not mount.is_empty and not _is_provisioned(provisioning, grow=True):
        why = f"{name} is a directory unless it is provisioned, and directories have no options"
        _report_unsupported(mount, why, "remove it, or add provisioning")


def _is_provisioned(spec: ConfigValue, *, grow: bool = True) -> bool:
    settings = [spec.down("diskSelector.match").text, spec["minSize"].text, spec["maxSize"].text]
    return any(settings) or (grow and spec["grow"].present)


def _report_unsupported(field: ConfigValue, why: str, fix: str) -> None:
    field.error("machine.volume", f"{field.name} is not supported here", why=why, fix=fix)


def _check_provisioning(spec: ConfigValue, *, needed: bool, sized: bool = True) -> None:
    """Check disk and size of a volume; `sized`: its size can be set."""
    match = spec.down("diskSelector.match")
    if match.text:
        check_expression(match, "disk")
    elif needed:
        match.missing("a volume needs a disk, and Talos does not choose one")
    least, most = spec["minSize"], spec["maxSize"]
    if not sized:
        if least.text or most.text or spec["grow"].present:
            first = next(field for field in (least, most, spec["grow"]) if field.present)
            _report_unsupported(
                first, "a volume that is a whole disk has a fixed size", "remove it"
            )
        return
    if least.text and most.text:
        if (
            _is_absolute(most)
            and _is_absolute(least)
            and parse_size(least.text) > parse_size(most.text)
        ):
            _report_size_limits(least, most)
    elif needed and not least.text and not most.text:
        least.missing("a volume needs a minimum or maximum size")
    if spec.minor >= 13 and least.text.startswith("-"):
        least.check_not_negative()


def _is_absolute(size: ConfigValue) -> bool:
    return not size.text.endswith("%") and not size.text.startswith("-")


def _report_size_limits(least: ConfigValue, most: ConfigValue) -> None:
    what = f"{most.name} is less than the minimum size"
    why = f"minSize is {least.text}, maxSize {most.text}"
    most.error("machine.size", what, why=why, fix="raise maxSize, or remove it")


def _check_encryption(spec: ConfigValue) -> None:
    provider, keys = spec["provider"], spec["keys"]
    no_provider = provider.text in ("", "none")
    if no_provider and keys.is_empty:
        return
    if no_provider:
        provider.error(
            "machine.encryption",
            f"{spec.name} has no provider",
            why="keys are set, but no provider",
            fix="set `provider: luks2`",
        )
    check_keys(spec, keys)
    if spec.minor < 12:
        return
    for key in keys.items:
        for register in key.down("tpm.options.pcrs").items:
            if not 0 <= register.number < _PCRS:
                register.error(
                    "machine.range",
                    f"{register.name} is {register.number}",
                    why=f"TPM registers are 0 to {_PCRS - 1}",
                    fix="use one of these",
                )


def _check_maintenance(volume: ConfigValue) -> None:
    volume.down("trim.interval").check_not_negative()
    check_least_time(volume.down("scrub.interval"), _LEAST_SCRUB)


def _check_user_volume(volume: ConfigValue) -> None:
    _check_volume_name(volume)
    kind = volume["volumeType"].text or "partition"
    if kind == "directory":
        _check_directory(volume)
    elif kind in ("disk", "partition"):
        _check_provisioning(volume["provisioning"], needed=True, sized=kind == "partition")
        _check_filesystem(volume["filesystem"])
        _check_encryption(volume["encryption"])
    else:
        _report_unsupported(volume["volumeType"], f"{kind} is not a volume type", "use partition")
    _check_maintenance(volume)


def _check_directory(volume: ConfigValue) -> None:
    encryption, filesystem = volume["encryption"], volume["filesystem"]
    fields = []
    if _is_provisioned(volume["provisioning"], grow=volume.minor >= 12):
        fields.append(volume["provisioning"])
    if encryption["provider"].text not in ("", "none") or not encryption["keys"].is_empty:
        fields.append(encryption)
    if filesystem["type"].text not in ("", "none") or any(
        filesystem[key].present for key in ("projectQuotaSupport", "xfs")
    ):
        fields.append(filesystem)
    mount = volume["mount"]
    if volume.minor >= 14 and mount["disableAccessTime"].present:
        fields.append(mount["disableAccessTime"])
    if volume.minor == 13 and not mount.is_empty:
        fields.append(mount)
    for field in fields:
        _report_unsupported(field, "a directory is part of EPHEMERAL", "remove it")


def _check_filesystem(spec: ConfigValue) -> None:
    known = _FILESYSTEMS_114 if spec.minor >= 14 else _FILESYSTEMS
    kind = spec["type"].text or "none"
    if kind not in known:
        _report_unsupported(spec["type"], f"filesystems are {', '.join(known[1:])}", "use xfs")
        return
    for key, used in (
        ("projectQuotaSupport", spec["projectQuotaSupport"].flag),
        ("xfs", spec.minor >= 14 and spec["xfs"].present),
    ):
        if used and kind not in ("none", _XFS):
            _report_unsupported(
                spec[key], f"the filesystem is {kind}, and only xfs supports it", "remove it"
            )


def _check_partition(volume: ConfigValue) -> None:
    """Check raw volumes and swap: partitions without a filesystem."""
    _check_volume_name(volume)
    _check_provisioning(volume["provisioning"], needed=True)
    _check_encryption(volume["encryption"])


def _check_existing_name(volume: ConfigValue) -> None:
    _check_volume_name(volume, longest=1 << 20)


def _check_external_volume(volume: ConfigValue) -> None:
    _check_volume_name(volume)
    kind = volume["filesystemType"]
    if kind.text != "virtiofs":
        _report_unsupported(kind, "external volumes are virtiofs", "use `virtiofs`")
    else:
        volume.down("mount.virtiofs.tag").require("the host shares the directory under this tag")


def _check_scrub(document: ConfigValue) -> None:
    check_least_time(document["interval"], _LEAST_SCRUB)


def _check_zswap(document: ConfigValue) -> None:
    share = document["maxPoolPercent"]
    share.check_range(0, 100, "it is a percentage from", "use 20, or leave it out")


_LVM_NAME = pattern(r"[A-Za-z0-9_-]*")
_LONGEST_LVM_NAME = {
    "LVMLogicalVolumeConfig": 63,
    "LVMVolumeGroupConfig": 63,
    "RAIDArrayConfig": 32,
}
_MINIMUM_COUNT = {"mirrors": 1, "stripes": 2}
_LAYOUTS = {"mirrors": ("raid1", "raid10"), "stripes": ("raid0", "raid10")}


def _check_lvm_name(document: ConfigValue) -> None:
    name = document["name"]
    longest = _LONGEST_LVM_NAME[document.kind]
    if not 1 <= len(name.text.encode()) <= longest or not _LVM_NAME.fullmatch(name.text):
        name.error(
            "machine.name",
            f"{name.name} is not a valid storage name",
            why=f"it must have 1 to {longest} letters, digits, - and _",
            fix="rename it",
        )


def _check_logical_volume(document: ConfigValue) -> None:
    layout = document["type"].text or "linear"
    for key, layouts in _LAYOUTS.items():
        field = document[key]
        if field.present and (layout not in layouts or field.number < _MINIMUM_COUNT[key]):
            field.error(
                "machine.volume",
                f"{field.name} is not supported here",
                why=f"the layout is {layout}; {' and '.join(layouts)} have at least "
                f"{_MINIMUM_COUNT[key]}",
                fix="remove it, or change the type",
            )
    least, most = document.down("provisioning.minSize"), document.down("provisioning.maxSize")
    most.check_not_negative()
    if least.text and not most.text.endswith("%") and _size_in_bytes(least) > _size_in_bytes(most):
        _report_size_limits(least, most)


def _size_in_bytes(size: ConfigValue) -> int:
    """Return a size in bytes; 0 for a percentage of the disk."""
    if not size.text or size.text.endswith("%"):
        return 0
    return parse_size(size.text.removeprefix("-"))


_MEMBER_RULES: tuple[Rule, ...] = (
    _check_lvm_name,
    matches("provisioning.volumeSelector.match", "member", "Talos selects the members by it"),
)
RULES: dict[str, tuple[Rule, ...]] = {
    "ExistingVolumeConfig": (
        _check_existing_name,
        matches(
            "discovery.volumeSelector.match", "volume", "Talos selects the existing volume by it"
        ),
        _check_maintenance,
    ),
    "ExternalVolumeConfig": (_check_external_volume,),
    "FilesystemScrubConfig": (_check_scrub,),
    "FilesystemTrimConfig": (not_negative("interval"),),
    "LVMLogicalVolumeConfig": (
        _check_lvm_name,
        required("provisioning.volumeGroup", "a logical volume belongs to a group"),
        required("provisioning.maxSize", "a logical volume needs a maximum size"),
        _check_logical_volume,
    ),
    "LVMVolumeGroupConfig": _MEMBER_RULES,
    "RAIDArrayConfig": _MEMBER_RULES,
    "RawVolumeConfig": (_check_partition,),
    "SwapVolumeConfig": (_check_partition,),
    "UserVolumeConfig": (_check_user_volume,),
    "VolumeConfig": (_check_system_volume,),
    "ZswapConfig": (_check_zswap,),
}
