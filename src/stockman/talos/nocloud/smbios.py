"""The serial number of a VM, which nocloud machines read before anything else."""

from __future__ import annotations

import base64
from urllib.parse import urlsplit
from uuid import UUID

from stockman.model.errors import Refused
from stockman.model.problem import Problem

LONGEST = 512
"""Characters that Proxmox takes for `smbios1`."""
_APART = ";"


def serial(*, hostname: str = "", instance_id: str = "", url: str = "") -> str:
    """The text of the serial number: a name, an id, and a server to ask for the rest.

    With a server the word is `nocloud-net`; Talos passes over `nocloud`.
    """
    if url and urlsplit(url).scheme not in ("http", "https"):
        raise Refused(_refused("the server", url, "Talos asks servers by http and https alone"))
    parts = {"ds": "nocloud-net" if url else "", "s": url, "h": hostname, "i": instance_id}
    for value in parts.values():
        if _APART in value:
            raise Refused(_refused("a part", value, f"{_APART} sets the parts apart"))
    return _APART.join(f"{key}={value}" for key, value in parts.items() if value)


def smbios1(uuid: UUID, text: str) -> str:
    """The key of the VM; it replaces all that was said there, so the UUID is said again."""
    packed = base64.b64encode(text.encode()).decode("ascii")
    value = f"base64=1,serial={packed},uuid={uuid}"
    if len(value) > LONGEST:
        why = f"Proxmox takes {LONGEST} characters for smbios1, and these are {len(value)}"
        raise Refused(_refused("the whole", text, why))
    return value


def _refused(part: str, value: str, why: str) -> Problem:
    return Problem(
        code="nocloud.serial",
        what=f"{part} of a serial number cannot be {value}",
        why=why,
        fix="give a shorter http address and plain names, or deliver the files by an ISO image",
    )
