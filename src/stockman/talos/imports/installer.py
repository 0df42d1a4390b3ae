"""Installer images of other tools, in our words: schematic, platform, SecureBoot."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from stockman.config.convert.building import text_at
from stockman.config.source.tree import Entry, Mapping, Node, Scalar, untyped
from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.talos.schematic import ImageSchematic, schematic_id
from stockman.talos.schematic_reader import read_schematic

_REFERENCE = re.compile(
    r"(?P<host>[^/]+)/(?:(?P<platform>[a-z]+)-)?installer(?P<secure>-secureboot)?"
    r"/(?P<id>[0-9a-f]{64})"
)


@dataclass(slots=True)
class Installer:
    """An installer, and the keys of a node that ask for it."""

    reference: str
    platform: str
    at: Position
    keys: dict[str, Entry] = field(default_factory=dict)


@dataclass(slots=True)
class SchematicKeys:
    """The keys of a node that ask for a schematic, and its id."""

    id: str
    at: Position
    keys: dict[str, Entry]

    def installed(self, host: str, mode: str, version: str, *, secureboot: bool) -> Installer:
        """The installer of a factory for this schematic."""
        secured = "-secureboot" if secureboot else ""
        keys = self.keys | (_secureboot(self.at) if secureboot else {})
        reference = f"{host}/{mode}-installer{secured}/{self.id}:{version}"
        return Installer(reference=reference, platform=mode, at=self.at, keys=keys)


def installer_of(url: Scalar, version: str, *, secureboot: bool) -> Installer | None:
    """The installer that an address without a tag names. None: it is not one of a factory."""
    found = _REFERENCE.fullmatch(url.text)
    if found is None:
        return None
    keys = {"schematic_id": Entry(url, text_at(found["id"], url), name="talosImageURL")}
    if found["secure"] or secureboot:
        keys |= _secureboot(url.at)
    return Installer(
        reference=f"{url.text}:{version}",
        platform=found["platform"] or "metal",
        at=url.at,
        keys=keys,
    )


def schematic_keys(node: Node | None, otherwise: Scalar) -> SchematicKeys | None:
    """The keys for a schematic written out; without one, for the image as it is."""
    written = untyped(node) if node is not None else {"customization": {}}
    found = read_schematic(written, Problems(), None) if isinstance(written, dict) else None
    if found is None:
        return None
    at = otherwise.at if node is None else node.at
    wanted = schematic_id(found)
    if node is not None and found == ImageSchematic(
        extensions=found.extensions, kernel_args=found.kernel_args
    ):
        keys = _listed(node, found)
        if keys:
            return SchematicKeys(wanted, at, keys)
    if node is not None and found != ImageSchematic():
        return SchematicKeys(wanted, at, {"talos.schematic": Entry(_key("schematic", at), node)})
    text = Scalar(wanted, at, plain=False, span=(0, 0))
    return SchematicKeys(wanted, at, {"schematic_id": Entry(_key("schematic", at), text)})


def _listed(node: Node, found: ImageSchematic) -> dict[str, Entry]:
    """Extensions and kernel arguments as the lists that they are."""
    custom = node.get("customization") if isinstance(node, Mapping) else None
    if not isinstance(custom, Mapping):
        return {}
    keys: dict[str, Entry] = {}
    extensions, arguments = custom.get("systemExtensions"), custom.get("extraKernelArgs")
    names = extensions.get("officialExtensions") if isinstance(extensions, Mapping) else None
    if found.extensions and names is not None:
        keys["talos.extensions"] = Entry(_key("schematic", names.at), names)
    if found.kernel_args and arguments is not None:
        keys["talos.kernel_args"] = Entry(_key("schematic", arguments.at), arguments)
    return keys


def _secureboot(at: Position) -> dict[str, Entry]:
    value = Scalar("true", at, plain=True, span=(0, 0))
    return {"secureboot": Entry(_key("secureboot", at), value)}


def _key(text: str, at: Position) -> Scalar:
    return Scalar(text, at, plain=False, span=(0, 0))
