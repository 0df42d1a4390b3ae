"""Rules of documents about LVM and RAID."""

from __future__ import annotations

import re

from stockman.talos.patches.sizes import size
from stockman.talos.validation.expressions.environments import MEMBER
from stockman.talos.validation.expressions.verdict import check_expression
from stockman.talos.validation.link_documents import check_not_negative
from stockman.talos.validation.part import Part
from stockman.talos.validation.report import Report
from stockman.talos.validation.volume_documents import too_small

_LETTERS = re.compile(r"[A-Za-z0-9_-]*")
_LONGEST = {"LVMLogicalVolumeConfig": 63, "LVMVolumeGroupConfig": 63, "RAIDArrayConfig": 32}
_LEAST = {"mirrors": 1, "stripes": 2}
_LAYOUTS = {"mirrors": ("raid1", "raid10"), "stripes": ("raid0", "raid10")}


def _check_name(report: Report, document: Part) -> None:
    name = document["name"]
    longest = _LONGEST[document.label.partition(" ")[0]]
    if not 1 <= len(name.text.encode()) <= longest or not _LETTERS.fullmatch(name.text):
        report.error(
            "machine.name",
            name,
            f"{name.name} is no name for storage",
            why=f"it has 1 to {longest} letters, digits, - and _",
            fix="rename it",
        )


def check_group(report: Report, document: Part) -> None:
    """A group of volumes or an array: what its members are."""
    _check_name(report, document)
    match = document.down("provisioning.volumeSelector.match")
    if match.text:
        check_expression(report, match, MEMBER)
    else:
        report.missing(match, "Talos has to find the members among the volumes that are there")


def check_logical_volume(report: Report, document: Part) -> None:
    _check_name(report, document)
    layout = document["type"].text or "linear"
    for key, layouts in _LAYOUTS.items():
        part = document[key]
        if part.present and (layout not in layouts or part.number < _LEAST[key]):
            report.error(
                "machine.volume",
                part,
                f"{part.name} is not for this volume",
                why=f"the layout is {layout}; {' and '.join(layouts)} have {_LEAST[key]} or more",
                fix="remove it, or change the type",
            )
    spec = document["provisioning"]
    if not spec["volumeGroup"].text:
        report.missing(spec["volumeGroup"], "a logical volume lies in a group")
    least, most = spec["minSize"], spec["maxSize"]
    if not most.text:
        report.missing(most, "a logical volume has a greatest size")
    check_not_negative(report, most)
    if least.text and not most.text.endswith("%") and bytes_of(least) > bytes_of(most):
        too_small(report, least, most)


def bytes_of(part: Part) -> int:
    """What a size is in bytes; a share of the disk is nothing."""
    if not part.text or part.text.endswith("%"):
        return 0
    return size(part.text.removeprefix("-"))
