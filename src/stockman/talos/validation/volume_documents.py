"""Rules of documents about volumes."""

from __future__ import annotations

import re

from stockman.talos.patches.sizes import nanoseconds, size
from stockman.talos.validation.disks_section import check_keys
from stockman.talos.validation.expressions.environments import DISK, VOLUME
from stockman.talos.validation.expressions.verdict import check_expression
from stockman.talos.validation.link_documents import check_not_negative
from stockman.talos.validation.part import Part
from stockman.talos.validation.report import Report

_SYSTEM = ("STATE", "EPHEMERAL", "IMAGECACHE")
_PROMOTABLE = ("ETCD", "CRI", "KUBELET", "LOG")
_LETTERS = re.compile(r"[A-Za-z0-9-]*")
_LONGEST = 34
_PCRS = 24
_LEAST_SCRUB = nanoseconds("10s")
_XFS = "xfs"
_FILESYSTEMS = ("none", _XFS, "ext4")
_FILESYSTEMS_114 = (*_FILESYSTEMS, "btrfs")


def check_volume_name(report: Report, document: Part, longest: int = _LONGEST) -> None:
    name = document["name"]
    wrong = ""
    if not 1 <= len(name.text.encode()) <= longest:
        wrong = f"it has 1 to {longest} characters"
    elif not _LETTERS.fullmatch(name.text):
        wrong = "it has letters, digits and - only"
    if wrong:
        report.error(
            "machine.name", name, f"{name.name} is no name of a volume", why=wrong, fix="rename it"
        )


def check_system_volume(report: Report, volume: Part) -> None:
    name = volume["name"].text
    known = (*_SYSTEM, *_PROMOTABLE) if report.minor >= 14 else _SYSTEM
    if name not in known:
        report.error(
            "machine.volume",
            volume["name"],
            f"{name!r} is no volume of the system",
            why=f"those are {', '.join(known)}",
            fix="write one of these, or a UserVolumeConfig for a volume of your own",
        )
        return
    _check_constraints(report, volume)
    check_provisioning(report, volume["provisioning"], needed=False)
    check_volume_encryption(report, volume["encryption"])
    check_upkeep(report, volume)


def _check_constraints(report: Report, volume: Part) -> None:
    name, mount = volume["name"].text, volume["mount"]
    provisioning = volume["provisioning"]
    if name == "STATE":
        if _is_provisioned(provisioning):
            _not_for(report, provisioning, "its place and size are Talos' own", "remove it")
        for key in volume.down("encryption.keys").items:
            if key["lockToState"].flag:
                _not_for(report, key["lockToState"], "STATE cannot lock itself", "remove it")
    if report.minor < 14:
        return
    if name in ("STATE", "IMAGECACHE") and not mount.is_empty:
        _not_for(report, mount, f"{name} is mounted as Talos needs it", "remove it")
    if name == "IMAGECACHE" and volume["filesystem"]["xfs"].present:
        _not_for(report, volume["filesystem"], "the image cache is ext4", "remove it")
    if name in _PROMOTABLE and not mount.is_empty and not _is_provisioned(provisioning, grow=True):
        why = f"{name} is a directory unless it is provisioned, and directories have no options"
        _not_for(report, mount, why, "remove it, or write provisioning too")


def _is_provisioned(spec: Part, *, grow: bool = True) -> bool:
    said = [spec.down("diskSelector.match").text, spec["minSize"].text, spec["maxSize"].text]
    return any(said) or (grow and spec["grow"].present)


def _not_for(report: Report, part: Part, why: str, fix: str) -> None:
    report.error("machine.volume", part, f"{part.name} is not for this volume", why=why, fix=fix)


def check_provisioning(report: Report, spec: Part, *, needed: bool, sized: bool = True) -> None:
    """Where a volume lies and how large it is; `sized`: it has a size of its own."""
    match = spec.down("diskSelector.match")
    if match.text:
        check_expression(report, match, DISK)
    elif needed:
        report.missing(match, "a volume lies on a disk, and Talos chooses none by itself")
    least, most = spec["minSize"], spec["maxSize"]
    if not sized:
        if least.text or most.text or spec["grow"].present:
            first = next(one for one in (least, most, spec["grow"]) if one.present)
            _not_for(report, first, "a volume that is a whole disk has its size", "remove it")
        return
    if least.text and most.text:
        if _is_absolute(most) and _is_absolute(least) and size(least.text) > size(most.text):
            too_small(report, least, most)
    elif needed and not least.text and not most.text:
        report.missing(least, "a volume has a least size, a greatest or both")
    if report.minor >= 13 and least.text.startswith("-"):
        check_not_negative(report, least)


def _is_absolute(part: Part) -> bool:
    return not part.text.endswith("%") and not part.text.startswith("-")


def too_small(report: Report, least: Part, most: Part) -> None:
    report.error(
        "machine.size",
        most,
        f"{most.name} is less than the least size",
        why=f"minSize is {least.text}, maxSize {most.text}",
        fix="raise maxSize, or remove it",
    )


def check_volume_encryption(report: Report, spec: Part) -> None:
    provider, keys = spec["provider"], spec["keys"]
    unsaid = provider.text in ("", "none")
    if unsaid and keys.is_empty:
        return
    if unsaid:
        report.error(
            "machine.encryption",
            provider,
            f"{spec.name} does not say how",
            why="keys are there, and a provider is not",
            fix="write `provider: luks2`",
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
                    why=f"registers of a TPM are 0 to {_PCRS - 1}",
                    fix="write one of these",
                )


def check_upkeep(report: Report, volume: Part) -> None:
    check_not_negative(report, volume.down("trim.interval"))
    check_scrub(report, volume.down("scrub.interval"))


def check_scrub(report: Report, interval: Part) -> None:
    check_least_time(report, interval, _LEAST_SCRUB)


def check_least_time(report: Report, span: Part, least: int) -> None:
    """A time that is zero, or this many nanoseconds at least."""
    told = nanoseconds(span.text) if span.text else 0
    if told and told < least:
        report.error(
            "machine.range",
            span,
            f"{span.name} is {span.text}",
            why=f"less than {least // 10**9} s is too often",
            fix=f"write {least // 10**9}s or more",
        )


def check_trim_document(report: Report, document: Part) -> None:
    check_not_negative(report, document["interval"])


def check_scrub_document(report: Report, document: Part) -> None:
    check_scrub(report, document["interval"])


def check_user_volume(report: Report, volume: Part) -> None:
    check_volume_name(report, volume)
    kind = volume["volumeType"].text or "partition"
    if kind == "directory":
        _check_directory(report, volume)
    elif kind in ("disk", "partition"):
        check_provisioning(report, volume["provisioning"], needed=True, sized=kind == "partition")
        _check_filesystem(report, volume["filesystem"])
        check_volume_encryption(report, volume["encryption"])
    else:
        _not_for(report, volume["volumeType"], f"volumes are not of type {kind}", "write partition")
    check_upkeep(report, volume)


def _check_directory(report: Report, volume: Part) -> None:
    encryption, filesystem = volume["encryption"], volume["filesystem"]
    parts = []
    if _is_provisioned(volume["provisioning"], grow=report.minor >= 12):
        parts.append(volume["provisioning"])
    if encryption["provider"].text not in ("", "none") or not encryption["keys"].is_empty:
        parts.append(encryption)
    if filesystem["type"].text not in ("", "none") or any(
        filesystem[key].present for key in ("projectQuotaSupport", "xfs")
    ):
        parts.append(filesystem)
    mount = volume["mount"]
    if report.minor >= 14 and mount["disableAccessTime"].present:
        parts.append(mount["disableAccessTime"])
    if report.minor == 13 and not mount.is_empty:
        parts.append(mount)
    for part in parts:
        _not_for(report, part, "a directory lies in EPHEMERAL, as that is", "remove it")


def _check_filesystem(report: Report, spec: Part) -> None:
    known = _FILESYSTEMS_114 if report.minor >= 14 else _FILESYSTEMS
    kind = spec["type"].text or "none"
    if kind not in known:
        _not_for(report, spec["type"], f"filesystems are {', '.join(known[1:])}", "write xfs")
        return
    for key, used in (
        ("projectQuotaSupport", spec["projectQuotaSupport"].flag),
        ("xfs", report.minor >= 14 and spec["xfs"].present),
    ):
        if used and kind not in ("none", _XFS):
            _not_for(
                report, spec[key], f"the filesystem is {kind}, and only xfs has it", "remove it"
            )


def check_raw_volume(report: Report, volume: Part) -> None:
    """Raw volumes and swap: a partition without a filesystem."""
    check_volume_name(report, volume)
    check_provisioning(report, volume["provisioning"], needed=True)
    check_volume_encryption(report, volume["encryption"])


def check_existing_volume(report: Report, volume: Part) -> None:
    check_volume_name(report, volume, longest=1 << 20)
    match = volume.down("discovery.volumeSelector.match")
    if match.text:
        check_expression(report, match, VOLUME)
    else:
        report.missing(match, "Talos has to find the volume among those that are there")
    check_upkeep(report, volume)


def check_external_volume(report: Report, volume: Part) -> None:
    check_volume_name(report, volume)
    kind, virtiofs = volume["filesystemType"], volume.down("mount.virtiofs")
    if kind.text != "virtiofs":
        _not_for(report, kind, "volumes from outside are virtiofs", "write `virtiofs`")
    elif not virtiofs["tag"].text:
        report.missing(virtiofs["tag"], "the host shares the directory under a tag")


def check_zswap(report: Report, document: Part) -> None:
    share = document["maxPoolPercent"]
    if not 0 <= share.number <= 100:
        report.error(
            "machine.range",
            share,
            f"{share.name} is {share.number}",
            why="a share is 0 to 100 percent",
            fix="write 20, or leave it out",
        )
