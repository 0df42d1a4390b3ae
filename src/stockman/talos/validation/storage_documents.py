"""Rules of documents about volumes, LVM and RAID."""

from __future__ import annotations

from stockman.model.pattern import pattern
from stockman.talos.patches.scalars import parse_nanoseconds, parse_size
from stockman.talos.validation.cel.checker import check_expression
from stockman.talos.validation.cel.environments import DISK, MEMBER, VOLUME
from stockman.talos.validation.link_documents import check_not_negative
from stockman.talos.validation.machine_section import check_keys
from stockman.talos.validation.report import ConfigValue, ValidationReport

_SYSTEM = ("STATE", "EPHEMERAL", "IMAGECACHE")
_PROMOTABLE = ("ETCD", "CRI", "KUBELET", "LOG")
_VOLUME_NAME = pattern(r"[A-Za-z0-9-]*")
_LONGEST_VOLUME_NAME = 34
_PCRS = 24
_LEAST_SCRUB = parse_nanoseconds("10s")
_XFS = "xfs"
_FILESYSTEMS = ("none", _XFS, "ext4")
_FILESYSTEMS_114 = (*_FILESYSTEMS, "btrfs")


def check_volume_name(
    report: ValidationReport, document: ConfigValue, longest: int = _LONGEST_VOLUME_NAME
) -> None:
    name = document["name"]
    wrong = ""
    if not 1 <= len(name.text.encode()) <= longest:
        wrong = f"it must have 1 to {longest} characters"
    elif not _VOLUME_NAME.fullmatch(name.text):
        wrong = "it may only contain letters, digits and -"
    if wrong:
        report.error(
            "machine.name",
            name,
            f"{name.name} is not a valid volume name",
            why=wrong,
            fix="rename it",
        )


def check_system_volume(report: ValidationReport, volume: ConfigValue) -> None:
    name = volume["name"].text
    known = (*_SYSTEM, *_PROMOTABLE) if report.minor >= 14 else _SYSTEM
    if name not in known:
        report.error(
            "machine.volume",
            volume["name"],
            f"{name!r} is not a system volume",
            why=f"the system volumes are {', '.join(known)}",
            fix="use one of these, or a UserVolumeConfig for your own volume",
        )
        return
    _check_constraints(report, volume)
    check_provisioning(report, volume["provisioning"], needed=False)
    check_volume_encryption(report, volume["encryption"])
    check_maintenance(report, volume)


def _check_constraints(report: ValidationReport, volume: ConfigValue) -> None:
    name, mount = volume["name"].text, volume["mount"]
    provisioning = volume["provisioning"]
    if name == "STATE":
        if _is_provisioned(provisioning):
            _report_unsupported(
                report, provisioning, "Talos manages its disk and size", "remove it"
            )
        for key in volume.down("encryption.keys").items:
            if key["lockToState"].flag:
                _report_unsupported(
                    report, key["lockToState"], "STATE cannot lock itself", "remove it"
                )
    if report.minor < 14:
        return
    if name in ("STATE", "IMAGECACHE") and not mount.is_empty:
        _report_unsupported(report, mount, f"Talos manages the mount of {name}", "remove it")
    if name == "IMAGECACHE" and volume["filesystem"]["xfs"].present:
        _report_unsupported(report, volume["filesystem"], "the image cache is ext4", "remove it")
    if name in _PROMOTABLE and not mount.is_empty and not _is_provisioned(provisioning, grow=True):
        why = f"{name} is a directory unless it is provisioned, and directories have no options"
        _report_unsupported(report, mount, why, "remove it, or add provisioning")


def _is_provisioned(spec: ConfigValue, *, grow: bool = True) -> bool:
    settings = [spec.down("diskSelector.match").text, spec["minSize"].text, spec["maxSize"].text]
    return any(settings) or (grow and spec["grow"].present)


def _report_unsupported(report: ValidationReport, field: ConfigValue, why: str, fix: str) -> None:
    report.error("machine.volume", field, f"{field.name} is not supported here", why=why, fix=fix)


def check_provisioning(
    report: ValidationReport, spec: ConfigValue, *, needed: bool, sized: bool = True
) -> None:
    """Check disk and size of a volume; `sized`: its size can be set."""
    match = spec.down("diskSelector.match")
    if match.text:
        check_expression(report, match, DISK)
    elif needed:
        report.missing(match, "a volume needs a disk, and Talos does not choose one")
    least, most = spec["minSize"], spec["maxSize"]
    if not sized:
        if least.text or most.text or spec["grow"].present:
            first = next(field for field in (least, most, spec["grow"]) if field.present)
            _report_unsupported(
                report, first, "a volume that is a whole disk has a fixed size", "remove it"
            )
        return
    if least.text and most.text:
        if (
            _is_absolute(most)
            and _is_absolute(least)
            and parse_size(least.text) > parse_size(most.text)
        ):
            check_size_limits(report, least, most)
    elif needed and not least.text and not most.text:
        report.missing(least, "a volume needs a minimum or maximum size")
    if report.minor >= 13 and least.text.startswith("-"):
        check_not_negative(report, least)


def _is_absolute(size: ConfigValue) -> bool:
    return not size.text.endswith("%") and not size.text.startswith("-")


def check_size_limits(report: ValidationReport, least: ConfigValue, most: ConfigValue) -> None:
    report.error(
        "machine.size",
        most,
        f"{most.name} is less than the minimum size",
        why=f"minSize is {least.text}, maxSize {most.text}",
        fix="raise maxSize, or remove it",
    )


def check_volume_encryption(report: ValidationReport, spec: ConfigValue) -> None:
    provider, keys = spec["provider"], spec["keys"]
    no_provider = provider.text in ("", "none")
    if no_provider and keys.is_empty:
        return
    if no_provider:
        report.error(
            "machine.encryption",
            provider,
            f"{spec.name} has no provider",
            why="keys are set, but no provider",
            fix="set `provider: luks2`",
        )
    check_keys(report, spec, keys)
    if report.minor < 12:
        return
    for key in keys.items:
        for register in key.down("tpm.options.pcrs").items:
            if not 0 <= register.number < _PCRS:
                report.error(
                    "machine.range",
                    register,
                    f"{register.name} is {register.number}",
                    why=f"TPM registers are 0 to {_PCRS - 1}",
                    fix="use one of these",
                )


def check_maintenance(report: ValidationReport, volume: ConfigValue) -> None:
    check_not_negative(report, volume.down("trim.interval"))
    check_scrub(report, volume.down("scrub.interval"))


def check_scrub(report: ValidationReport, interval: ConfigValue) -> None:
    check_least_time(report, interval, _LEAST_SCRUB)


def check_least_time(report: ValidationReport, span: ConfigValue, least: int) -> None:
    """Check that a time is zero or at least a number of nanoseconds."""
    nanoseconds = parse_nanoseconds(span.text) if span.text else 0
    if nanoseconds and nanoseconds < least:
        report.error(
            "machine.range",
            span,
            f"{span.name} is {span.text}",
            why=f"less than {least // 10**9} s is too often",
            fix=f"use at least {least // 10**9}s",
        )


def check_trim_document(report: ValidationReport, document: ConfigValue) -> None:
    check_not_negative(report, document["interval"])


def check_scrub_document(report: ValidationReport, document: ConfigValue) -> None:
    check_scrub(report, document["interval"])


def check_user_volume(report: ValidationReport, volume: ConfigValue) -> None:
    check_volume_name(report, volume)
    kind = volume["volumeType"].text or "partition"
    if kind == "directory":
        _check_directory(report, volume)
    elif kind in ("disk", "partition"):
        check_provisioning(report, volume["provisioning"], needed=True, sized=kind == "partition")
        _check_filesystem(report, volume["filesystem"])
        check_volume_encryption(report, volume["encryption"])
    else:
        _report_unsupported(
            report, volume["volumeType"], f"{kind} is not a volume type", "use partition"
        )
    check_maintenance(report, volume)


def _check_directory(report: ValidationReport, volume: ConfigValue) -> None:
    encryption, filesystem = volume["encryption"], volume["filesystem"]
    fields = []
    if _is_provisioned(volume["provisioning"], grow=report.minor >= 12):
        fields.append(volume["provisioning"])
    if encryption["provider"].text not in ("", "none") or not encryption["keys"].is_empty:
        fields.append(encryption)
    if filesystem["type"].text not in ("", "none") or any(
        filesystem[key].present for key in ("projectQuotaSupport", "xfs")
    ):
        fields.append(filesystem)
    mount = volume["mount"]
    if report.minor >= 14 and mount["disableAccessTime"].present:
        fields.append(mount["disableAccessTime"])
    if report.minor == 13 and not mount.is_empty:
        fields.append(mount)
    for field in fields:
        _report_unsupported(report, field, "a directory is part of EPHEMERAL", "remove it")


def _check_filesystem(report: ValidationReport, spec: ConfigValue) -> None:
    known = _FILESYSTEMS_114 if report.minor >= 14 else _FILESYSTEMS
    kind = spec["type"].text or "none"
    if kind not in known:
        _report_unsupported(
            report, spec["type"], f"filesystems are {', '.join(known[1:])}", "use xfs"
        )
        return
    for key, used in (
        ("projectQuotaSupport", spec["projectQuotaSupport"].flag),
        ("xfs", report.minor >= 14 and spec["xfs"].present),
    ):
        if used and kind not in ("none", _XFS):
            _report_unsupported(
                report,
                spec[key],
                f"the filesystem is {kind}, and only xfs supports it",
                "remove it",
            )


def check_raw_volume(report: ValidationReport, volume: ConfigValue) -> None:
    """Check raw volumes and swap: partitions without a filesystem."""
    check_volume_name(report, volume)
    check_provisioning(report, volume["provisioning"], needed=True)
    check_volume_encryption(report, volume["encryption"])


def check_existing_volume(report: ValidationReport, volume: ConfigValue) -> None:
    check_volume_name(report, volume, longest=1 << 20)
    match = volume.down("discovery.volumeSelector.match")
    if match.text:
        check_expression(report, match, VOLUME)
    else:
        report.missing(match, "Talos selects the existing volume by it")
    check_maintenance(report, volume)


def check_external_volume(report: ValidationReport, volume: ConfigValue) -> None:
    check_volume_name(report, volume)
    kind, virtiofs = volume["filesystemType"], volume.down("mount.virtiofs")
    if kind.text != "virtiofs":
        _report_unsupported(report, kind, "external volumes are virtiofs", "use `virtiofs`")
    elif not virtiofs["tag"].text:
        report.missing(virtiofs["tag"], "the host shares the directory under this tag")


def check_zswap(report: ValidationReport, document: ConfigValue) -> None:
    share = document["maxPoolPercent"]
    if not 0 <= share.number <= 100:
        report.error(
            "machine.range",
            share,
            f"{share.name} is {share.number}",
            why="it is a percentage from 0 to 100",
            fix="use 20, or leave it out",
        )


_LVM_NAME = pattern(r"[A-Za-z0-9_-]*")
_LONGEST_LVM_NAME = {
    "LVMLogicalVolumeConfig": 63,
    "LVMVolumeGroupConfig": 63,
    "RAIDArrayConfig": 32,
}
_MINIMUM_COUNT = {"mirrors": 1, "stripes": 2}
_LAYOUTS = {"mirrors": ("raid1", "raid10"), "stripes": ("raid0", "raid10")}


def _check_lvm_name(report: ValidationReport, document: ConfigValue) -> None:
    name = document["name"]
    longest = _LONGEST_LVM_NAME[document.label.partition(" ")[0]]
    if not 1 <= len(name.text.encode()) <= longest or not _LVM_NAME.fullmatch(name.text):
        report.error(
            "machine.name",
            name,
            f"{name.name} is not a valid storage name",
            why=f"it must have 1 to {longest} letters, digits, - and _",
            fix="rename it",
        )


def check_volume_group(report: ValidationReport, document: ConfigValue) -> None:
    """Check the members of a volume group or an array."""
    _check_lvm_name(report, document)
    match = document.down("provisioning.volumeSelector.match")
    if match.text:
        check_expression(report, match, MEMBER)
    else:
        report.missing(match, "Talos selects the members by it")


def check_logical_volume(report: ValidationReport, document: ConfigValue) -> None:
    _check_lvm_name(report, document)
    layout = document["type"].text or "linear"
    for key, layouts in _LAYOUTS.items():
        field = document[key]
        if field.present and (layout not in layouts or field.number < _MINIMUM_COUNT[key]):
            report.error(
                "machine.volume",
                field,
                f"{field.name} is not supported here",
                why=f"the layout is {layout}; {' and '.join(layouts)} have at least "
                f"{_MINIMUM_COUNT[key]}",
                fix="remove it, or change the type",
            )
    spec = document["provisioning"]
    if not spec["volumeGroup"].text:
        report.missing(spec["volumeGroup"], "a logical volume belongs to a group")
    least, most = spec["minSize"], spec["maxSize"]
    if not most.text:
        report.missing(most, "a logical volume needs a maximum size")
    check_not_negative(report, most)
    if least.text and not most.text.endswith("%") and size_in_bytes(least) > size_in_bytes(most):
        check_size_limits(report, least, most)


def size_in_bytes(size: ConfigValue) -> int:
    """Return a size in bytes; 0 for a percentage of the disk."""
    if not size.text or size.text.endswith("%"):
        return 0
    return parse_size(size.text.removeprefix("-"))
