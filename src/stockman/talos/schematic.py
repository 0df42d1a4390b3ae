"""What the Image Factory makes images from, and the id that it gives to it."""

from __future__ import annotations

import hashlib
from dataclasses import field
from typing import Literal

from stockman.model.names import SchematicId
from stockman.model.record import record
from stockman.talos.go_yaml import dump, in_order

Bootloader = Literal["dual-boot", "sd-boot", "grub"]
EnrollKeys = Literal["off", "manual", "if-safe", "force"]


@record
class MetaValue:
    """One value that Talos finds in its META partition at the first boot."""

    key: int
    value: str


@record
class Overlay:
    """Files for a board that boots in its own way."""

    image: str
    name: str
    options: dict[str, object] = field(default_factory=dict)


@record
class ImageSchematic:
    """The contents of an image. The order of lists is part of the id."""

    extensions: tuple[str, ...] = ()
    kernel_args: tuple[str, ...] = ()
    meta: tuple[MetaValue, ...] = ()
    overlay: Overlay | None = None
    """None: no board needs one."""
    machine_configuration: str = ""
    """A machine configuration inside of the image. Empty: none."""
    bootloader: Bootloader | None = None
    """None: as Talos chooses."""
    enroll_keys: EnrollKeys | None = None
    """When SecureBoot keys are enrolled. None: only inside of a virtual machine."""
    well_known_certificates: bool = False
    """Whether the certificates of other vendors are enrolled too."""
    sector_size: int = 0
    """Bytes. 0: the 512 of most disks."""
    owner: str = ""
    """User of a factory that knows users. Empty: everybody's."""


EMPTY = ImageSchematic()
"""The image as it is, without anything added."""


def canonical_text(schematic: ImageSchematic) -> str:
    """A schematic as the Image Factory itself writes it; `NotWritable` for odd line breaks."""
    return dump(
        _filled({"owner": schematic.owner, "overlay": _overlay(schematic.overlay)})
        | {"customization": _customization(schematic)}
    )


def schematic_id(schematic: ImageSchematic) -> SchematicId:
    """The id that the Image Factory gives to a schematic, without asking it."""
    return SchematicId(hashlib.sha256(canonical_text(schematic).encode()).hexdigest())


def _customization(schematic: ImageSchematic) -> dict[str, object]:
    return _filled(
        {
            "embeddedMachineConfiguration": schematic.machine_configuration,
            "extraKernelArgs": schematic.kernel_args,
            "meta": [{"key": one.key, "value": one.value} for one in schematic.meta],
            "systemExtensions": _filled({"officialExtensions": schematic.extensions}),
            "bootloader": schematic.bootloader,
            "secureboot": _filled(
                {
                    "enrollKeys": schematic.enroll_keys,
                    "includeWellKnownCertificates": schematic.well_known_certificates,
                }
            ),
            "diskImage": _filled({"sectorSize": schematic.sector_size}),
        }
    )


def _overlay(overlay: Overlay | None) -> dict[str, object]:
    if overlay is None or overlay == Overlay(image="", name=""):
        return {}
    described: dict[str, object] = {"image": overlay.image, "name": overlay.name}
    return described | _filled({"options": in_order(overlay.options)})


def _filled(members: dict[str, object]) -> dict[str, object]:
    """Without what is empty: nothing, zero, false, an empty text or list."""
    return {name: value for name, value in members.items() if value}
