"""The name of a template of Proxmox VE: it says what is in its disk."""

from __future__ import annotations

from stockman.talos.images import Image

_DIGITS = 8


def template_name(prefix: str, image: Image) -> str:
    """The name of the VM: another one for every version and schematic, and fit for DNS."""
    secured = "-secureboot" if image.secureboot else ""
    version = image.version.tagged.replace(".", "-").replace("+", "-").lower()
    return f"{prefix}-{version}-{image.schematic[:_DIGITS]}{secured}"
