"""The disk to install on as an expression, which is how documents name disks."""

from __future__ import annotations

import json

from stockman.talos.migration.edit import Plain
from stockman.talos.migration.values import mapping, text
from stockman.talos.patches.sizes import size

_BY_LINK = "/dev/disk/"
_PATTERNS = ("uuid", "wwid", "model", "serial", "modalias")
_TYPES = {
    "nvme": 'disk.transport == "nvme"',
    "sd": 'disk.transport == "mmc"',
    "hdd": "disk.rotational",
    "ssd": "!disk.rotational",
}
_WILD = "*"


def disk_expression(install: Plain) -> str | None:
    """What the `disk` or `diskSelector` of a configuration means; None: neither says anything."""
    selector = mapping(install.get("diskSelector"))
    if selector:
        return _selected(selector)
    path = text(install.get("disk"))
    if not path:
        return None
    if path.startswith(_BY_LINK):
        return f"{_quoted(path)} in disk.symlinks"
    return f"disk.dev_path == {_quoted(path)}"


def _selected(selector: Plain) -> str:
    serial = text(selector.get("serial"))
    if set(selector) == {"serial"} and serial and _WILD not in serial:
        return f"disk.serial == {_quoted(serial)}"
    terms = [_size(text(selector["size"]))] if selector.get("size") else []
    terms += [
        f"glob({_quoted(text(selector[field]))}, disk.{field})"
        for field in _PATTERNS
        if selector.get(field)
    ]
    terms.append('disk.transport != ""')
    if selector.get("type"):
        terms.append(_TYPES.get(text(selector["type"]), "false"))
    if selector.get("busPath"):
        terms.append(f"glob({_quoted(text(selector['busPath']))}, disk.bus_path)")
    return " && ".join([*terms, "!disk.readonly", "!disk.cdrom"])


def _size(condition: str) -> str:
    bare = condition.strip()
    operator = next((one for one in ("<=", ">=", "==", "<", ">") if bare.startswith(one)), "")
    return f"disk.size {operator or '=='} {size(bare.removeprefix(operator).strip())}u"


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
