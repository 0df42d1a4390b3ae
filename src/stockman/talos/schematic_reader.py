"""Schematics as users write them, and the one that a node of the desired state wants."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar, cast, get_args

from stockman.config.nearest import nearest
from stockman.model.desired import Schematic
from stockman.model.extensions import extension_fits
from stockman.model.names import SchematicId
from stockman.model.problem import Place, Problems
from stockman.model.support import Verdict
from stockman.model.version import Version
from stockman.talos.go_yaml import NotWritable
from stockman.talos.schematic import (
    Bootloader,
    EnrollKeys,
    ImageSchematic,
    MetaValue,
    Overlay,
    canonical_text,
    schematic_id,
)

_TOP = ("owner", "overlay", "customization")
_OVERLAY = ("image", "name", "options")
_CUSTOMIZATION = (
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


def image_schematic(wish: Schematic, problems: Problems) -> ImageSchematic | None:
    """What a node's image contains. None: known by its id alone, or the problems say why."""
    if wish.id is not None:
        return None
    if wish.written is not None:
        return read_schematic(wish.written, problems, wish.where("written"))
    return _writable(
        ImageSchematic(extensions=wish.extensions, kernel_args=wish.kernel_args),
        problems,
        wish.where(),
    )


def wanted_id(wish: Schematic, problems: Problems) -> SchematicId | None:
    """The id of the schematic that a node wants. None: the problems say why."""
    if wish.id is not None:
        return wish.id
    schematic = image_schematic(wish, problems)
    return None if schematic is None else schematic_id(schematic)


def read_schematic(
    written: dict[str, object], problems: Problems, at: Place
) -> ImageSchematic | None:
    """A schematic written out as the Image Factory takes it. None: the problems say why."""
    reader = _Reader(problems, at)
    top = reader.mapping(written, "the schematic", _TOP)
    custom = reader.mapping(top.get("customization"), "customization", _CUSTOMIZATION)
    secureboot = reader.mapping(
        custom.get("secureboot"), "secureboot", ("enrollKeys", "includeWellKnownCertificates")
    )
    extensions = reader.mapping(
        custom.get("systemExtensions"), "systemExtensions", ("officialExtensions",)
    )
    disk = reader.mapping(custom.get("diskImage"), "diskImage", ("sectorSize",))
    schematic = ImageSchematic(
        owner=reader.text(top.get("owner"), "owner"),
        overlay=_overlay(reader, top.get("overlay")),
        machine_configuration=reader.text(
            custom.get("embeddedMachineConfiguration"), "embeddedMachineConfiguration"
        ),
        kernel_args=reader.texts(custom.get("extraKernelArgs"), "extraKernelArgs"),
        meta=_meta(reader, custom.get("meta")),
        extensions=reader.texts(extensions.get("officialExtensions"), "officialExtensions"),
        bootloader=_bootloader(reader, custom.get("bootloader")),
        enroll_keys=cast(
            "EnrollKeys | None",
            reader.choice(secureboot.get("enrollKeys"), "enrollKeys", get_args(EnrollKeys)),
        ),
        well_known_certificates=reader.flag(
            secureboot.get("includeWellKnownCertificates"), "includeWellKnownCertificates"
        ),
        sector_size=reader.number(disk.get("sectorSize"), "sectorSize", 2**32),
    )
    return None if reader.failed else _writable(schematic, problems, at)


def check_extensions(
    extensions: Iterable[str], talos: Version, problems: Problems, at: Place
) -> None:
    """Report the extensions that a version of Talos does not have, and those nobody knows."""
    for name in extensions:
        fit = extension_fits(name, talos)
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


def _overlay(reader: _Reader, value: object) -> Overlay | None:
    overlay = reader.mapping(value, "overlay", _OVERLAY)
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


def _meta(reader: _Reader, value: object) -> tuple[MetaValue, ...]:
    items = reader.items(value, "meta")
    rows = [reader.mapping(item, "meta", ("key", "value")) for item in items]
    return tuple(
        MetaValue(
            key=reader.number(row.get("key"), "meta.key", 2**8),
            value=reader.text(row.get("value"), "meta.value"),
        )
        for row in rows
    )


def _bootloader(reader: _Reader, value: object) -> Bootloader | None:
    lower = value.lower() if isinstance(value, str) else value
    found = reader.choice(lower, "bootloader", (_NO_BOOTLOADER, *get_args(Bootloader)))
    return None if found == _NO_BOOTLOADER else cast("Bootloader | None", found)


def _writable(schematic: ImageSchematic, problems: Problems, at: Place) -> ImageSchematic | None:
    try:
        canonical_text(schematic)
    except NotWritable as error:
        problems.error(
            "schematic.value",
            "the schematic cannot be written as the Image Factory would write it",
            why=str(error),
            fix="write it in another way",
            at=at,
        )
        return None
    return schematic


class _Reader:
    """Values of a schematic; what does not fit becomes a problem and its empty form."""

    def __init__(self, problems: Problems, at: Place) -> None:
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
        near = nearest(key, known)
        self._problems.error(
            "schematic.unknown-key",
            f"{key} is not a key of {name}",
            why=f"the Image Factory knows {', '.join(known)} there",
            fix=f"write {near}" if near else "remove it",
            at=self._at,
        )
