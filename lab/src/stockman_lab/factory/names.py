"""Names of files that the factory makes, taken apart: `nocloud-amd64-secureboot.raw.xz`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from stockman_lab.factory.refusals import invalid

PLATFORMS = frozenset(
    {
        *("akamai", "aws", "azure", "cloudstack", "digital-ocean", "equinixMetal", "exoscale"),
        *("gcp", "hcloud", "metal", "nocloud", "opennebula", "openstack", "oracle", "scaleway"),
        *("upcloud", "vmware", "vultr"),
    }
)
_ARCHITECTURES = {"amd64": "amd64", "arm64": "arm64", "x86_64": "amd64", "i386": "amd64"}
"""With those that iPXE says."""
_COMPRESSIONS = {".tar.gz": "tar.gz", ".gz": "gz", ".xz": "xz", ".zst": "zst"}
_FORMS = ("raw", "qcow2", "vhd", "ova")
_SECURE = "-secureboot"
_PREFIX = "error parsing profile from path: "


class AssetKind(Enum):
    """What a file is."""

    COMMAND_LINE = "cmdline"
    ISO = "iso"
    INSTALLER = "installer"
    DISK = "disk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One file of the factory, as its name says it."""

    kind: AssetKind
    architecture: str
    platform: str = "metal"
    secure_boot: bool = False
    form: str = ""
    """Of a disk: `raw`, `qcow2`, `vhd`, `ova`."""
    compression: str = ""
    """Of a disk: `xz`, `zst`, `gz`, `tar.gz`. Empty: none."""


def asset(path: str) -> Asset:
    """What a name stands for; refuses what is none, in the words of the factory."""
    if path.startswith("cmdline-"):
        return _machine(AssetKind.COMMAND_LINE, path.removeprefix("cmdline-"))
    if path.endswith(".iso"):
        return _machine(AssetKind.ISO, path.removesuffix(".iso"))
    return _disk(path)


def _disk(path: str) -> Asset:
    ending = next((compression for compression in _COMPRESSIONS if path.endswith(compression)), "")
    bare = path.removesuffix(ending)
    form = next((one for one in _FORMS if bare.endswith(f".{one}")), "")
    if not form:
        raise invalid(f'{_PREFIX}invalid profile path: "{bare}"')
    return _machine(
        AssetKind.DISK, bare.removesuffix(f".{form}"), form, _COMPRESSIONS.get(ending, "")
    )


def _machine(kind: AssetKind, text: str, form: str = "", compression: str = "") -> Asset:
    bare = text.removesuffix(_SECURE)
    platform, dash, rest = bare.partition("-")
    if not dash:
        raise invalid(f'{_PREFIX}invalid platform-arch: "{bare}"')
    if platform == "digital" and rest.startswith("ocean-"):
        platform, rest = "digital-ocean", rest.removeprefix("ocean-")
    return Asset(
        kind=kind,
        platform=platform,
        architecture=_architecture(rest),
        secure_boot=bare != text,
        form=form,
        compression=compression,
    )


def _architecture(text: str) -> str:
    if text not in _ARCHITECTURES:
        raise invalid(f'{_PREFIX}invalid architecture: "{text}"')
    return _ARCHITECTURES[text]
