"""Convert the installation disk to an expression."""

from __future__ import annotations

import json

from stockman.talos.migration.draft import Plain, as_mapping, as_text
from stockman.talos.patches.scalars import parse_size

_BY_LINK = "/dev/disk/"
_PATTERNS = ("uuid", "wwid", "model", "serial", "modalias")
_TYPES = {
    "nvme": 'disk.transport == "nvme"',
    "sd": 'disk.transport == "mmc"',
    "hdd": "disk.rotational",
    "ssd": "!disk.rotational",
}
_WILDCARD = "*"


def disk_expression(install: Plain) -> str | None:
    """Return the expression for `disk` or `diskSelector`; None: neither is set."""
    selector = as_mapping(install.get("diskSelector"))
    if selector:
        return _selector_expression(selector)
    path = as_text(install.get("disk"))
    if not path:
        return None
    if path.startswith(_BY_LINK):
        return f"{_quote(path)} in disk.symlinks"
    return f"disk.dev_path == {_quote(path)}"


def _selector_expression(selector: Plain) -> str:
    serial = as_text(selector.get("serial"))
    if set(selector) == {"serial"} and serial and _WILDCARD not in serial:
        return f"disk.serial == {_quote(serial)}"
    terms = [_size(as_text(selector["size"]))] if selector.get("size") else []
    terms += [
        f"glob({_quote(as_text(selector[field]))}, disk.{field})"
        for field in _PATTERNS
        if selector.get(field)
    ]
    terms.append('disk.transport != ""')
    if selector.get("type"):
        terms.append(_TYPES.get(as_text(selector["type"]), "false"))
    if selector.get("busPath"):
        terms.append(f"glob({_quote(as_text(selector['busPath']))}, disk.bus_path)")
    return " && ".join([*terms, "!disk.readonly", "!disk.cdrom"])


def _size(condition: str) -> str:
    bare = condition.strip()
    operator = next((sign for sign in ("<=", ">=", "==", "<", ">") if bare.startswith(sign)), "")
    return f"disk.size {operator or '=='} {parse_size(bare.removeprefix(operator).strip())}u"


def _quote(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
