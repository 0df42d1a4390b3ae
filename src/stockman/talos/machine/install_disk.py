"""The disk that Talos is installed on: by path, serial number, or what it is."""

from __future__ import annotations

import json
import re

from stockman.model.pattern import pattern
from stockman.model.volumes import DiskSelector
from stockman.talos.machine.facts import Document, Machine

_TYPES = {
    "nvme": 'disk.transport == "nvme"',
    "sd": 'disk.transport == "mmc"',
    "hdd": "disk.rotational",
    "ssd": "!disk.rotational",
}
_SIZE = pattern(r"(>=|<=|==|>|<)? ?(\d+)(?:\.(\d+))? ?([kMGTP]?)(i?)B")
_REAL_DISKS = ('disk.transport != ""', "!disk.readonly", "!disk.cdrom")
"""What Talos adds to every selector of the old form."""


def install_disk(machine: Machine) -> Document:
    """The disk in the words of contracts up to 1.13."""
    node = machine.node
    if node.disk_selector is None:
        name = node.disk
        return {"disk": name} if name.startswith("/") else {"diskSelector": {"serial": name}}
    wanted = node.disk_selector
    fields = {
        "size": wanted.size,
        "model": wanted.model,
        "serial": wanted.serial,
        "modalias": wanted.modalias,
        "uuid": wanted.uuid,
        "wwid": wanted.wwid,
        "type": wanted.type,
        "busPath": wanted.bus_path,
    }
    return {"diskSelector": {name: value for name, value in fields.items() if value is not None}}


def install_match(machine: Machine) -> str:
    """The disk in the words of contract 1.14: an expression in CEL."""
    node = machine.node
    if node.disk_selector is None:
        return disk_match(node.disk)
    return node.disk_selector.match or _expression(node.disk_selector)


def disk_match(disk: str) -> str:
    """The expression for a disk that is named by its path or serial number."""
    field = "dev_path" if disk.startswith("/") else "serial"
    return f"disk.{field} == {_quoted(disk)}"


def _expression(wanted: DiskSelector) -> str:
    """What Talos itself makes of a selector of the old form."""
    terms = [f"disk.size {_compared(wanted.size)}"] if wanted.size is not None else []
    for field in ("uuid", "wwid", "model", "serial", "modalias", "bus_path"):
        pattern = getattr(wanted, field)
        if pattern is not None:
            terms.append(f"glob({_quoted(pattern)}, disk.{field})")
    if wanted.type is not None:
        terms.append(_TYPES[wanted.type])
    return " && ".join((*terms, *_REAL_DISKS))


def _compared(size: str) -> str:
    sign = re.match(r"[<>=]*", size)
    return f"{(sign and sign[0]) or '=='} {byte_count(size)}u"


def byte_count(size: str) -> int:
    """The number of bytes that a size means; `GB` is a power of ten, `GiB` one of two."""
    found = _SIZE.fullmatch(size)
    if found is None:
        raise ValueError(f"{size} is not a size")
    _, whole, fraction, prefix, binary = found.groups()
    step: int = (1024 if binary else 1000) ** " kMGTP".index(prefix or " ")
    digits = fraction or ""
    return int(int(whole + digits) * step // 10 ** len(digits))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
