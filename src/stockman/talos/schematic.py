"""Schematics of the image factory, their IDs, and the images and installers built from them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Literal, TypeVar, cast, get_args
from urllib.parse import urlsplit

from stockman.config.nearest import nearest_name
from stockman.model.compatibility import Verdict, extension_compatibility
from stockman.model.desired import Node, Schematic, Talos
from stockman.model.names import SchematicId
from stockman.model.problem import ProblemLocation, Problems
from stockman.model.record import record
from stockman.model.version import Version
from stockman.talos.go_yaml import UnsupportedYamlValue, dump, sort_free_form

Bootloader = Literal["dual-boot", "sd-boot", "grub"]
EnrollKeys = Literal["off", "manual", "if-safe", "force"]


@record
class MetaValue:
    """A value in the META partition at the first boot."""

    key: int
    value: str


@record
class Overlay:
    """Files for boards with a special boot process."""

    image: str
    name: str
    options: dict[str, object] = field(default_factory=dict)


@record
class ImageSchematic:
    """The contents of an image. The order of lists is part of the ID."""

    extensions: tuple[str, ...] = ()
    kernel_args: tuple[str, ...] = ()
    meta: tuple[MetaValue, ...] = ()
    overlay: Overlay | None = None
    """None: no overlay."""
    machine_configuration: str = ""
    """A machine configuration embedded in the image. Empty: none."""
    bootloader: Bootloader | None = None
    """None: the default of Talos."""
    enroll_keys: EnrollKeys | None = None
    """When SecureBoot keys are enrolled. None: only in virtual machines."""
    well_known_certificates: bool = False
    """Whether to enroll the certificates of other vendors too."""
    sector_size: int = 0
    """In bytes. 0: the default of 512."""
    owner: str = ""
    """User at a factory with user accounts. Empty: public."""


EMPTY = ImageSchematic()
"""The default image without additions."""


def canonical_text(schematic: ImageSchematic) -> str:
    """Return a schematic as the image factory writes it; raises UnsupportedYamlValue."""
    return dump(
        _drop_empty({"owner": schematic.owner, "overlay": _overlay(schematic.overlay)})
        | {"customization": _customization(schematic)}
    )


def schematic_id(schematic: ImageSchematic) -> SchematicId:
    """Compute the ID that the image factory assigns to a schematic."""
    return SchematicId(hashlib.sha256(canonical_text(schematic).encode()).hexdigest())


def _customization(schematic: ImageSchematic) -> dict[str, object]:
    return _drop_empty(
        {
            "embeddedMachineConfiguration": schematic.machine_configuration,
            "extraKernelArgs": schematic.kernel_args,
            "meta": [{"key": value.key, "value": value.value} for value in schematic.meta],
            "systemExtensions": _drop_empty({"officialExtensions": schematic.extensions}),
            "bootloader": schematic.bootloader,
            "secureboot": _drop_empty(
                {
                    "enrollKeys": schematic.enroll_keys,
                    "includeWellKnownCertificates": schematic.well_known_certificates,
                }
            ),
            "diskImage": _drop_empty({"sectorSize": schematic.sector_size}),
        }
    )


def _overlay(overlay: Overlay | None) -> dict[str, object]:
    if overlay is None or overlay == Overlay(image="", name=""):
        return {}
    described: dict[str, object] = {"image": overlay.image, "name": overlay.name}
    return described | _drop_empty({"options": sort_free_form(overlay.options)})


def _drop_empty(members: dict[str, object]) -> dict[str, object]:
    """Remove empty values: None, zero, false, an empty text or list."""
    return {name: value for name, value in members.items() if value}


_TOP_LEVEL_KEYS = ("owner", "overlay", "customization")
_OVERLAY_KEYS = ("image", "name", "options")
_CUSTOMIZATION_KEYS = (
    "embeddedMachineConfiguration",
    "extraKernelArgs",
    "meta",
    "systemExtensions",
    "bootloader",
    "secureboot",
    "diskImage",
)
_NO_BOOTLOADER = "none"

T = TypeVar("T")


def desired_schematic(schematic: Schematic, problems: Problems) -> ImageSchematic | None:
    """Return the contents of a node's image. None: only the ID is known, or see the problems."""
    if schematic.id is not None:
        return None
    if schematic.written is not None:
        return read_schematic(schematic.written, problems, schematic.where("written"))
    return _check_writable(
        ImageSchematic(extensions=schematic.extensions, kernel_args=schematic.kernel_args),
        problems,
        schematic.where(),
    )


def desired_schematic_id(schematic: Schematic, problems: Problems) -> SchematicId | None:
    """Return the ID of a node's schematic. None: the problems say why."""
    if schematic.id is not None:
        return schematic.id
    contents = desired_schematic(schematic, problems)
    return None if contents is None else schematic_id(contents)


def read_schematic(
    inline: dict[str, object], problems: Problems, at: ProblemLocation
) -> ImageSchematic | None:
    """Read an inline schematic in the format of the image factory. None: see the problems."""
    reader = _SchematicReader(problems, at)
    top = reader.mapping(inline, "the schematic", _TOP_LEVEL_KEYS)
    custom = reader.mapping(top.get("customization"), "customization", _CUSTOMIZATION_KEYS)
    secureboot = reader.mapping(
        custom.get("secureboot"), "secureboot", ("enrollKeys", "includeWellKnownCertificates")
    )
    extensions = reader.mapping(
        custom.get("systemExtensions"), "systemExtensions", ("officialExtensions",)
    )
    disk = reader.mapping(custom.get("diskImage"), "diskImage", ("sectorSize",))
    schematic = ImageSchematic(
        owner=reader.text(top.get("owner"), "owner"),
        overlay=_read_overlay(reader, top.get("overlay")),
        machine_configuration=reader.text(
            custom.get("embeddedMachineConfiguration"), "embeddedMachineConfiguration"
        ),
        kernel_args=reader.texts(custom.get("extraKernelArgs"), "extraKernelArgs"),
        meta=_read_meta(reader, custom.get("meta")),
        extensions=reader.texts(extensions.get("officialExtensions"), "officialExtensions"),
        bootloader=_read_bootloader(reader, custom.get("bootloader")),
        enroll_keys=cast(
            "EnrollKeys | None",
            reader.choice(secureboot.get("enrollKeys"), "enrollKeys", get_args(EnrollKeys)),
        ),
        well_known_certificates=reader.flag(
            secureboot.get("includeWellKnownCertificates"), "includeWellKnownCertificates"
        ),
        sector_size=reader.number(disk.get("sectorSize"), "sectorSize", 2**32),
    )
    return None if reader.failed else _check_writable(schematic, problems, at)


def check_extensions(
    extensions: Iterable[str], talos: Version, problems: Problems, at: ProblemLocation
) -> None:
    """Report extensions that a Talos version does not have, and unknown ones."""
    for name in extensions:
        fit = extension_compatibility(name, talos)
        if fit.verdict is Verdict.REFUSED:
            problems.error(
                "schematic.extension",
                f"Talos {talos} has no extension {name}",
                why=fit.reason,
                fix="remove it, or choose a Talos version that has it",
                at=at,
            )
        elif fit.verdict is Verdict.NEWER:
            problems.warn(
                "schematic.unknown-extension",
                f"the extension {name} is unknown",
                why=fit.reason,
                fix="check its spelling; the image factory rejects unknown names",
                at=at,
            )


def _read_overlay(reader: _SchematicReader, value: object) -> Overlay | None:
    overlay = reader.mapping(value, "overlay", _OVERLAY_KEYS)
    if not overlay:
        return None
    options = overlay.get("options")
    if options is not None and not isinstance(options, dict):
        reader.report_type("options", "a mapping")
        options = None
    return Overlay(
        image=reader.text(overlay.get("image"), "overlay.image"),
        name=reader.text(overlay.get("name"), "overlay.name"),
        options=options or {},
    )


def _read_meta(reader: _SchematicReader, value: object) -> tuple[MetaValue, ...]:
    items = reader.items(value, "meta")
    rows = [reader.mapping(item, "meta", ("key", "value")) for item in items]
    return tuple(
        MetaValue(
            key=reader.number(row.get("key"), "meta.key", 2**8),
            value=reader.text(row.get("value"), "meta.value"),
        )
        for row in rows
    )


def _read_bootloader(reader: _SchematicReader, value: object) -> Bootloader | None:
    lower = value.lower() if isinstance(value, str) else value
    choice = reader.choice(lower, "bootloader", (_NO_BOOTLOADER, *get_args(Bootloader)))
    return None if choice == _NO_BOOTLOADER else cast("Bootloader | None", choice)


def _check_writable(
    schematic: ImageSchematic, problems: Problems, at: ProblemLocation
) -> ImageSchematic | None:
    try:
        canonical_text(schematic)
    except UnsupportedYamlValue as error:
        problems.error(
            "schematic.value",
            "the schematic cannot be written in canonical form",
            why=str(error),
            fix="remove the unsupported value",
            at=at,
        )
        return None
    return schematic


class _SchematicReader:
    """Reads values of a schematic; an invalid one is reported and replaced by an empty value."""

    def __init__(self, problems: Problems, at: ProblemLocation) -> None:
        self._problems = problems
        self._at = at
        self.failed = False

    def mapping(self, value: object, name: str, known: tuple[str, ...]) -> dict[str, object]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.report_type(name, "a mapping")
            return {}
        for key in value:
            if key not in known:
                self._unknown(name, str(key), known)
        return value

    def items(self, value: object, name: str) -> list[object]:
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            self.report_type(name, "a list")
            return []
        return list(value)

    def texts(self, value: object, name: str) -> tuple[str, ...]:
        items = self.items(value, name)
        if not all(isinstance(item, str) for item in items):
            self.report_type(name, "a list of texts; numbers and words like `true` need quotes")
        return tuple(item for item in items if isinstance(item, str))

    def text(self, value: object, name: str) -> str:
        return self._check(value, name, "", "a text", lambda item: isinstance(item, str))

    def flag(self, value: object, name: str) -> bool:
        return self._check(value, name, False, "true or false", lambda item: isinstance(item, bool))

    def number(self, value: object, name: str, limit: int) -> int:
        def fits(item: object) -> bool:
            return isinstance(item, int) and not isinstance(item, bool) and 0 <= item < limit

        return self._check(value, name, 0, f"a whole number below {limit:,}", fits)

    def choice(self, value: object, name: str, choices: tuple[str, ...]) -> str | None:
        return self._check(
            value, name, None, f"one of {', '.join(choices)}", lambda item: item in choices
        )

    def report_type(self, name: str, expected: str) -> None:
        self.failed = True
        self._problems.error(
            "schematic.value",
            f"{name} of the schematic is invalid",
            why=f"the image factory requires {expected}",
            fix=f"use {expected}",
            at=self._at,
        )

    def _check(
        self, value: object, name: str, empty: T, expected: str, fits: Callable[[object], bool]
    ) -> T:
        if value is None:
            return empty
        if fits(value):
            return cast("T", value)
        self.report_type(name, expected)
        return empty

    def _unknown(self, name: str, key: str, known: tuple[str, ...]) -> None:
        self.failed = True
        near = nearest_name(key, known)
        self._problems.error(
            "schematic.unknown-key",
            f"{key} is not a key of {name}",
            why=f"the supported keys are {', '.join(known)}",
            fix=f"use {near}" if near else "remove it",
            at=self._at,
        )


Platform = Literal["metal", "nocloud"]
Architecture = Literal["amd64", "arm64"]
ImageForm = Literal["iso", "raw.xz", "raw.zst", "qcow2", "uki.efi"]


@record
class FactoryImage:
    """One image of the image factory: a schematic built for a platform and version."""

    factory_url: str
    schematic: SchematicId
    version: Version
    platform: Platform
    secureboot: bool = False
    architecture: Architecture = "amd64"

    @property
    def _secured(self) -> str:
        return "-secureboot" if self.secureboot else ""

    @property
    def installer(self) -> str:
        """Reference of the installer that installs or upgrades a machine with this image.

        It must match the platform: with that of another platform a machine loses its network.
        """
        host = urlsplit(self.factory_url).netloc
        name = f"{self.platform}-installer{self._secured}"
        return f"{host}/{name}/{self.schematic}:{self.version.tagged}"

    def url(self, form: ImageForm) -> str:
        """Return the URL of the image file."""
        separator = "-" if form == "uki.efi" else "."
        file = f"{self.platform}-{self.architecture}{self._secured}{separator}{form}"
        base = self.factory_url.rstrip("/")
        return f"{base}/image/{self.schematic}/{self.version.tagged}/{file}"


_DIGITS = 8


def template_name(prefix: str, image: FactoryImage) -> str:
    """Return the name of a template VM, unique per version and schematic and valid in DNS."""
    secured = "-secureboot" if image.secureboot else ""
    version = image.version.tagged.replace(".", "-").replace("+", "-").lower()
    return f"{prefix}-{version}-{image.schematic[:_DIGITS]}{secured}"


def node_image(
    node: Node, talos: Talos, problems: Problems, *, architecture: Architecture = "amd64"
) -> FactoryImage | None:
    """Return schematic, platform and version of a node's image. None: the problems say why.

    Unavailable extensions are reported, unless only the schematic ID is known.
    """
    schematic = node.schematic
    contents = desired_schematic(schematic, problems)
    if contents is not None:
        origin = schematic.where("extensions") or schematic.where("written")
        check_extensions(contents.extensions, talos.version, problems, origin)
    image_id = desired_schematic_id(schematic, problems)
    if image_id is None:
        return None
    return FactoryImage(
        factory_url=talos.factory_url,
        schematic=image_id,
        version=talos.version,
        platform=talos.platform,
        secureboot=node.secureboot,
        architecture=architecture,
    )
