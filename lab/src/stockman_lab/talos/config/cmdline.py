"""What the kernel's arguments say of the network and of the configuration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cmdline:
    """Arguments that Talos reads."""

    hostname: str = ""
    ignored: tuple[str, ...] = ()
    """Links that are left alone."""
    config_url: str = ""
    platform: str = ""
    predictable_names: bool = True
    """False: `eth0` and so on, as nocloud images have it."""


def cmdline(arguments: str | Iterable[str]) -> Cmdline:
    """What a kernel's arguments say; `ip`, `bond` and `vlan` are ignored."""
    words = arguments.split() if isinstance(arguments, str) else list(arguments)
    pairs = [word.partition("=")[::2] for word in words]

    def told(name: str) -> list[str]:
        return [value for key, value in pairs if key == name]

    def first(name: str) -> str:
        return next(iter(told(name)), "")

    return Cmdline(
        hostname=first("talos.hostname"),
        ignored=tuple(told("talos.network.interface.ignore")),
        config_url=first("talos.config"),
        platform=first("talos.platform"),
        predictable_names="0" not in told("net.ifnames"),
    )
