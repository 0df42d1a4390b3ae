"""What may be changed while a virtual machine runs: the key `hotplug`."""

from __future__ import annotations

from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.lists import split_list

DEFAULT = "network,disk,usb"
KNOWN = frozenset({"network", "disk", "cpu", "memory", "usb", "cloudinit"})


def parse_hotplug(text: str) -> frozenset[str]:
    """Features that are on: `1` is the default, `0` none. Raises `FormatError`."""
    if text == "0":
        return frozenset()
    features = split_list(DEFAULT if text == "1" else text)
    for feature in features:
        if feature not in KNOWN:
            raise FormatError(f"invalid hotplug feature '{feature}'")
    return frozenset(features)
