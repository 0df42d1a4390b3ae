"""What the firmware says the machine is: `base64=1,serial=...,uuid=...`."""

from __future__ import annotations

from stockman_lab.pve.formats.nic import Throws
from stockman_lab.pve.formats.property_string import Format, booleans, parse, print_properties

SMBIOS: Format = booleans("base64")


def parse_smbios(text: str) -> dict[str, str]:
    """The fields; raises `FormatError`."""
    return parse(SMBIOS, text)


def new_smbios(dice: Throws) -> str:
    """Fields of a new machine: only its UUID."""
    return f"uuid={dice.uuid()}"


def cloned_smbios(text: str, dice: Throws) -> str:
    """Fields of a clone: the same with a new UUID, printed in canonical order."""
    return print_properties(SMBIOS, {**parse_smbios(text), "uuid": dice.uuid()})
