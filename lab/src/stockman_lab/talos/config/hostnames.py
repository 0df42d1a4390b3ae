"""Names that machines have, and names that they give themselves."""

from __future__ import annotations

from hashlib import sha256

from stockman_lab.talos.config.applied import Layer
from stockman_lab.talos.config.effective import Effective
from stockman_lab.talos.config.nocloud import PlatformData

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def hostname(
    config: Effective | None,
    platform: PlatformData,
    node_id: str,
    addresses: tuple[str, ...],
) -> tuple[str, Layer]:
    """The name of a machine, with its domain, and who says so. Empty: nobody does.

    Names are made only where a configuration asks for it, and by nobody else.
    """
    if config is not None and config.hostname:
        return config.hostname, Layer.CONFIGURATION
    if platform.hostname:
        return platform.hostname, Layer.PLATFORM
    if platform.cmdline.hostname:
        return platform.cmdline.hostname, Layer.CMDLINE
    how = config.auto_hostname if config is not None else "off"
    if how == "stable" and node_id:
        return stable_name(node_id), Layer.DEFAULT
    if how == "addr" and addresses:
        return address_name(addresses[0]), Layer.DEFAULT
    return "", Layer.DEFAULT


def stable_name(node_id: str) -> str:
    """The name that a machine makes of its identity, `talos-2gd-76y`."""
    number = int.from_bytes(sha256(node_id.encode()).digest()[:8], "big")
    digits = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return f"talos-{digits[1:4]}-{digits[4:7]}"


def address_name(address: str) -> str:
    """The name that a machine makes of its first address, `talos-10-42-0-5`."""
    return f"talos-{address.replace(':', '').replace('.', '-')}"
