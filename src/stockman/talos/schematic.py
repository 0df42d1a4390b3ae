"""What the Image Factory makes images from, and the id that it gives to it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Literal, TypeVar, cast, get_args

from stockman.config.nearest import nearest_name
from stockman.model.compatibility import Verdict, extension_compatibility
from stockman.model.desired import Schematic
from stockman.model.names import SchematicId
from stockman.model.problem import ProblemLocation, Problems
from stockman.model.record import record
from stockman.model.version import Version
from stockman.talos.go_yaml import UnsupportedYamlValue, dump, sort_free_form

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
        _drop_empty({"owner": schematic.owner, "overlay": _overlay(schematic.overlay)})
        | {"customization": _customization(schematic)}
    )


def schematic_id(schematic: ImageSchematic) -> SchematicId:
    """The id that the Image Factory gives to a schematic, without asking it."""
    return SchematicId(hashlib.sha256(canonical_text(schematic).encode()).hexdigest())


def _customization(schematic: ImageSchematic) -> dict[str, object]:
    return _drop_empty(
        {
            "embeddedMachineConfiguration": schematic.machine_configuration,
            "extraKernelArgs": schematic.kernel_args,
            "meta": [{"key": one.key, "value": one.value} for one in schematic.meta],
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
    """Without what is empty: nothing, zero, false, an empty text or list."""
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


def desired_schematic(wish: Schematic, problems: Problems) -> ImageSchematic | None:
    """What a node's image contains. None: known by its id alone, or the problems say why."""
    if wish.id is not None:
        return None
    if wish.written is not None:
        return read_schematic(wish.written, problems, wish.where("written"))
    return _check_writable(
        ImageSchematic(extensions=wish.extensions, kernel_args=wish.kernel_args),
        problems,
        wish.where(),
    )


def desired_schematic_id(wish: Schematic, problems: Problems) -> SchematicId | None:
    """The id of the schematic that a node wants. None: the problems say why."""
    if wish.id is not None:
        return wish.id
    schematic = desired_schematic(wish, problems)
    return None if schematic is None else schematic_id(schematic)


def read_schematic(
    written: dict[str, object], problems: Problems, at: ProblemLocation
) -> ImageSchematic | None:
    """A schematic written out as the Image Factory takes it. None: the problems say why."""
    reader = _SchematicReader(problems, at)
    top = reader.mapping(written, "the schematic", _TOP_LEVEL_KEYS)
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
    """Report the extensions that a version of Talos does not have, and those nobody knows."""
    for name in extensions:
        fit = extension_compatibility(name, talos)
        if fit.verdict is Verdict.REFUSED:
            problems.error(
                "schematic.extension",
                f"Talos {talos} has no extension {name}",
                why=fit.because,
                fix="remove it, or choose a Talos version that has it",
                at=at,
            )
        elif fit.verdict is Verdict.NEWER:
            problems.warn(
                "schematic.unknown-extension",
                f"the extension {name} is not known here",
                why=fit.because,
                fix="check its spelling; the Image Factory refuses names that it does not know",
                at=at,
            )


def _read_overlay(reader: _SchematicReader, value: object) -> Overlay | None:
    overlay = reader.mapping(value, "overlay", _OVERLAY_KEYS)
    if not overlay:
        return None
    options = overlay.get("options")
    if options is not None and not isinstance(options, dict):
        reader.wrong("options", "a mapping")
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
    found = reader.choice(lower, "bootloader", (_NO_BOOTLOADER, *get_args(Bootloader)))
    return None if found == _NO_BOOTLOADER else cast("Bootloader | None", found)


def _check_writable(
    schematic: ImageSchematic, problems: Problems, at: ProblemLocation
) -> ImageSchematic | None:
    try:
        canonical_text(schematic)
    except UnsupportedYamlValue as error:
        problems.error(
            "schematic.value",
            "the schematic cannot be written as the Image Factory would write it",
            why=str(error),
            fix="write it in another way",
            at=at,
        )
        return None
    return schematic


class _SchematicReader:
    """Values of a schematic; what does not fit becomes a problem and its empty form."""

    def __init__(self, problems: Problems, at: ProblemLocation) -> None:
        self._problems = problems
        self._at = at
        self.failed = False

    def mapping(self, value: object, name: str, known: tuple[str, ...]) -> dict[str, object]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.wrong(name, "a mapping")
            return {}
        for key in value:
            if key not in known:
                self._unknown(name, str(key), known)
        return value

    def items(self, value: object, name: str) -> list[object]:
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            self.wrong(name, "a list")
            return []
        return list(value)

    def texts(self, value: object, name: str) -> tuple[str, ...]:
        found = self.items(value, name)
        if not all(isinstance(one, str) for one in found):
            self.wrong(name, "a list of texts; numbers and words like `true` need quotes")
        return tuple(one for one in found if isinstance(one, str))

    def text(self, value: object, name: str) -> str:
        return self._checked(value, name, "", "a text", lambda one: isinstance(one, str))

    def flag(self, value: object, name: str) -> bool:
        return self._checked(value, name, False, "true or false", lambda one: isinstance(one, bool))

    def number(self, value: object, name: str, limit: int) -> int:
        def fits(one: object) -> bool:
            return isinstance(one, int) and not isinstance(one, bool) and 0 <= one < limit

        return self._checked(value, name, 0, f"a whole number below {limit:,}", fits)

    def choice(self, value: object, name: str, choices: tuple[str, ...]) -> str | None:
        return self._checked(
            value, name, None, f"one of {', '.join(choices)}", lambda one: one in choices
        )

    def wrong(self, name: str, wanted: str) -> None:
        self.failed = True
        self._problems.error(
            "schematic.value",
            f"{name} of the schematic does not fit",
            why=f"the Image Factory wants {wanted}",
            fix=f"write {wanted}",
            at=self._at,
        )

    def _checked(
        self, value: object, name: str, empty: T, wanted: str, fits: Callable[[object], bool]
    ) -> T:
        if value is None:
            return empty
        if fits(value):
            return cast("T", value)
        self.wrong(name, wanted)
        return empty

    def _unknown(self, name: str, key: str, known: tuple[str, ...]) -> None:
        self.failed = True
        near = nearest_name(key, known)
        self._problems.error(
            "schematic.unknown-key",
            f"{key} is not a key of {name}",
            why=f"the Image Factory knows {', '.join(known)} there",
            fix=f"write {near}" if near else "remove it",
            at=self._at,
        )
