"""The bytes of what the factory makes: they say platform, schematic and version."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from stockman.model.version import Version
from stockman.talos.schematic import ImageSchematic
from stockman_lab.factory.kernel_line import Booted, kernel_line
from stockman_lab.factory.names import PLATFORMS, Asset, AssetKind
from stockman_lab.factory.offer import chosen_extensions, offered, overlays_of
from stockman_lab.factory.refusals import FactoryRefusal, internal, invalid
from stockman_lab.factory.schematics import known_schematic
from stockman_lab.factory.state import FactoryState
from stockman_lab.images.compression import packed
from stockman_lab.images.facts import ImageFacts, facts_area
from stockman_lab.images.image import Form
from stockman_lab.images.making import disk_image, iso_image

RAW_SIZE = 8 << 20
"""Of raw disks: each of their bytes is kept, so that they are small and grow once imported."""
_MIB = 1 << 20
_SMALL_DISK, _LARGE_DISK, _GRUB_ROOM = 1246 * _MIB, 8192 * _MIB, 1001 * _MIB
_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
_ENHANCING = "error enhancing profile from schematic: "
_KEPT = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One file that somebody asks for."""

    schematic: str
    version: str
    """`v1.13.9`."""
    asset: Asset


def order(state: FactoryState, schematic: str, version: str, asset: Asset) -> Order:
    """What can be made of it here; refuses what the version, the schematic or the name forbids."""
    contents = known_schematic(state, schematic)
    tag = _on_offer(state, version, contents)
    if asset.platform not in PLATFORMS or asset.form in ("vhd", "ova"):
        raise internal()
    _check(state, contents, tag, asset)
    return Order(schematic=schematic, version=tag, asset=asset)


def content_of(state: FactoryState, order: Order) -> bytes:
    """The bytes of a file, the same for the same order."""
    return _made(facts_of(state, order), order.asset, command_line(state, order))


def facts_of(state: FactoryState, order: Order) -> ImageFacts:
    """What a file says of itself."""
    contents, asset = known_schematic(state, order.schematic), order.asset
    loader = bootloader_of(contents, order.version, asset)
    return ImageFacts(
        platform=asset.platform,
        architecture=asset.architecture,
        version=order.version,
        schematic=order.schematic,
        virtual_size=_virtual_size(asset, loader),
        secure_boot=asset.secure_boot,
        more={
            "kind": asset.kind.value,
            "bootloader": loader,
            "sector_size": str(contents.sector_size or 512),
        },
    )


def command_line(state: FactoryState, order: Order) -> str:
    """The kernel command line of an image."""
    asset = order.asset
    return kernel_line(
        Booted(
            platform=asset.platform,
            version=order.version,
            architecture=asset.architecture,
            secure_boot=asset.secure_boot,
            is_iso=asset.kind is AssetKind.ISO,
            extra=known_schematic(state, order.schematic).kernel_args,
        )
    )


def bootloader_of(contents: ImageSchematic, version: str, asset: Asset) -> str:
    """`sd-boot`, `grub` or `dual-boot`, by the rules of Talos."""
    if asset.secure_boot:
        return "sd-boot"
    if contents.bootloader is not None and asset.kind in (AssetKind.DISK, AssetKind.ISO):
        return contents.bootloader
    if Version.parse(version).line < (1, 10):
        return "grub"
    return "sd-boot" if asset.architecture == "arm64" else "dual-boot"


def _on_offer(state: FactoryState, version: str, contents: ImageSchematic) -> str:
    try:
        return offered(state, version)
    except FactoryRefusal as refusal:
        if refusal.status != 404 or not contents.extensions:
            raise
        text = f"{_ENHANCING}error getting official extensions: {refusal.text}"
        raise FactoryRefusal(404, text) from None


def _check(state: FactoryState, contents: ImageSchematic, version: str, asset: Asset) -> None:
    if asset.kind is AssetKind.COMMAND_LINE:
        return
    if contents.machine_configuration and Version.parse(version).line < (1, 12):
        text = f"embedding configuration is not supported for Talos version {version}"
        raise invalid(_ENHANCING + text)
    chosen_extensions(state, version, contents.extensions)
    board = contents.overlay.name if contents.overlay is not None else ""
    if board and board not in {
        official_overlay.name for official_overlay in overlays_of(state, version)
    }:
        text = f'official overlay "{board}" is not available for Talos version {version}'
        raise invalid(_ENHANCING + text)


def _virtual_size(asset: Asset, loader: str) -> int:
    if asset.kind is not AssetKind.DISK:
        return 0
    if asset.form == "raw":
        return RAW_SIZE
    size = _SMALL_DISK if asset.platform in ("metal", "nocloud") else _LARGE_DISK
    return size + (_GRUB_ROOM if loader == "dual-boot" else 0)


def _made(facts: ImageFacts, asset: Asset, line: str) -> bytes:
    if asset.kind is AssetKind.DISK:
        return _disk(_Frozen(facts), asset.form, asset.compression)
    if asset.kind is AssetKind.ISO:
        return iso_image(facts, _MOMENT)
    return line.encode()


class _Frozen:
    """Facts that can be looked up: those with the same area are the same."""

    __slots__ = ("area", "facts")

    def __init__(self, facts: ImageFacts) -> None:
        self.facts = facts
        self.area = facts_area(facts)

    def __hash__(self) -> int:
        return hash(self.area)

    def __eq__(self, value: object) -> bool:
        return isinstance(value, _Frozen) and value.area == self.area


@lru_cache(maxsize=_KEPT)
def _disk(facts: _Frozen, form: str, compression: str) -> bytes:
    content = disk_image(facts.facts, Form(form))
    if compression == "tar.gz":
        raise internal()
    return packed(content, compression) if compression else content
