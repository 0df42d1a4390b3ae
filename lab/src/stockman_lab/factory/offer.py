"""What the factory offers: versions of Talos, extensions and overlays of each."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

from stockman.model.compatibility import extensions
from stockman.model.version import Version
from stockman_lab.factory.refusals import internal, invalid, unknown_version
from stockman_lab.factory.state import FactoryState

_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?", re.ASCII
)
_HOST = "ghcr.io"
_AUTHOR = "Sidero Labs"
_OVERLAYS = {
    "rpi_generic": "siderolabs/sbc-raspberrypi",
    "rpi_5": "siderolabs/sbc-raspberrypi",
    "rock64": "siderolabs/sbc-rockchip",
    "rockpi4": "siderolabs/sbc-rockchip",
    "rock5b": "siderolabs/sbc-rockchip",
    "turingrk1": "siderolabs/sbc-rockchip",
    "pine64": "siderolabs/sbc-allwinner",
    "jetson_nano": "siderolabs/sbc-jetson",
}
_OTHER_NAMES = {
    "siderolabs/v4l-uvc": "siderolabs/v4l-uvc-drivers",
    "siderolabs/usb-modem": "siderolabs/usb-modem-drivers",
    "siderolabs/gasket": "siderolabs/gasket-driver",
    "siderolabs/talos-vmtoolsd": "siderolabs/vmtoolsd-guest-agent",
    "siderolabs/xe-guest-utilities": "siderolabs/xen-guest-agent",
    "siderolabs/nvidia-container-toolkit": "siderolabs/nvidia-container-toolkit-lts",
    "siderolabs/nvidia-open-gpu-kernel-modules": "siderolabs/nvidia-open-gpu-kernel-modules-lts",
    "siderolabs/nonfree-kmod-nvidia": "siderolabs/nonfree-kmod-nvidia-lts",
    "siderolabs/nvidia-fabricmanager": "siderolabs/nvidia-fabric-manager-lts",
    "siderolabs/i915-ucode": "siderolabs/i915",
    "siderolabs/amdgpu-firmware": "siderolabs/amdgpu",
}
"""Names of old that the factory still understands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialExtension:
    """An extension as it is built for one version."""

    name: str
    ref: str
    digest: str
    author: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialOverlay:
    """Files for one board, as they are built for one version."""

    name: str
    image: str
    ref: str
    digest: str


def offered(state: FactoryState, text: str) -> str:
    """A version on offer, `v1.13.9`, given with or without its v; refuses others."""
    bare = text.removeprefix("v")
    if not _SEMVER.fullmatch(bare):
        raise internal()
    if f"v{bare}" not in state.versions:
        raise unknown_version(bare)
    return f"v{bare}"


def newest_stable(state: FactoryState) -> str:
    """What the tag `latest` stands for. Empty: nothing is on offer."""
    stable = [Version.parse(version) for version in state.versions]
    rows = [one for one in stable if not one.pre]
    return max(rows).tagged if rows else ""


def extensions_of(state: FactoryState, version: str) -> list[OfficialExtension]:
    """The extensions of a version, by name."""
    gone = state.withdrawn.get(version, [])
    return [
        official_extension
        for official_extension in _built(version)
        if official_extension.name not in gone
    ]


def overlays_of(state: FactoryState, version: str) -> list[OfficialOverlay]:
    """The overlays of a version, by name."""
    gone = state.withdrawn.get(version, [])
    return [
        OfficialOverlay(
            name=name,
            image=image,
            ref=f"{_HOST}/{image}:{version}",
            digest=_digest(f"{image}/{name}", version),
        )
        for name, image in sorted(_OVERLAYS.items())
        if name not in gone
    ]


def chosen_extensions(
    state: FactoryState, version: str, names: tuple[str, ...]
) -> list[OfficialExtension]:
    """The extensions that a schematic names, in its order; refuses what the version lacks."""
    known = {
        official_extension.name: official_extension
        for official_extension in extensions_of(state, version)
    }
    official_extensions = []
    for name in names:
        one = known.get(name) or known.get(_OTHER_NAMES.get(name, ""))
        if one is None:
            raise invalid(
                "error enhancing profile from schematic: "
                f'official extension "{name}" is not available for Talos version {version}'
            )
        official_extensions.append(one)
    return official_extensions


@lru_cache(maxsize=64)
def _built(version: str) -> tuple[OfficialExtension, ...]:
    line = Version.parse(version).line
    return tuple(
        _extension(extension.name, extension.purpose, version)
        for extension in extensions()
        if extension.since.line <= line
    )


def _extension(name: str, purpose: str, version: str) -> OfficialExtension:
    return OfficialExtension(
        name=name,
        ref=f"{_HOST}/{name}:{version}",
        digest=_digest(name, version),
        author=_AUTHOR,
        description=f"{purpose}\n",
    )


def _digest(name: str, version: str) -> str:
    return f"sha256:{hashlib.sha256(f'{name}@{version}'.encode()).hexdigest()}"
