"""Which changes of a configuration a machine takes on while it runs."""

from __future__ import annotations

from collections.abc import Iterable

from stockman.model.version import Version

_ALWAYS = (1, 14)
"""The first minor that takes everything on while it runs, and knows no reboot for it."""
_AT_BOOT = ("machine.files", "machine.udev", "machine.disks", "machine.systemDiskEncryption")
"""What the newest minors take on without a word, and only look at when they boot."""
_LIVE = ("version", "debug", "cluster")
_LIVE_MACHINE = (
    "acceptedCAs",
    "ca",
    "certSANs",
    "controlPlane",
    "install",
    "kernel",
    "kubelet",
    "logging",
    "network",
    "nodeAnnotations",
    "nodeLabels",
    "nodeTaints",
    "pods",
    "registries",
    "seccompProfiles",
    "sysctls",
    "sysfs",
    "time",
)
_LIVE_FEATURES = (
    "hostDNS",
    "imageCache",
    "kubePrism",
    "kubernetesTalosAPIAccess",
    "nodeAddressSortAlgorithm",
)


def boots_for(paths: Iterable[str], version: Version) -> tuple[str, ...]:
    """The paths among those that changed for which a machine has to boot. Empty: for none."""
    if version.line >= _ALWAYS:
        return tuple(path for path in paths if _is_below(path, _AT_BOOT))
    return tuple(path for path in paths if not _is_live(path))


def _is_live(path: str) -> bool:
    if ": " in path:
        # Other documents are never compared by Talos: their controllers follow them.
        return True
    if path.startswith("machine.registries.config.") and ".auth." in path:
        return False
    if _is_below(path, _LIVE) or _is_below(path, _prefixed("machine", _LIVE_MACHINE)):
        return True
    return _is_below(path, _prefixed("machine.features", _LIVE_FEATURES))


def _prefixed(prefix: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{prefix}.{name}" for name in names)


def _is_below(path: str, places: tuple[str, ...]) -> bool:
    return any(path == one or path.startswith((f"{one}.", f"{one}[")) for one in places)
