"""Installer images of other tools as our keys: schematic, platform, SecureBoot."""

from __future__ import annotations

from dataclasses import dataclass, field

from stockman.config.convert.draft import text_scalar
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    TreeNode,
    to_plain_data,
)
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.talos.schematic import ImageSchematic, read_schematic, schematic_id

_REFERENCE = pattern(
    r"(?P<host>[^/]+)/(?:(?P<platform>[a-z]+)-)?installer(?P<secure>-secureboot)?"
    r"/(?P<id>[0-9a-f]{64})"
)


@dataclass(slots=True)
class FactoryInstaller:
    """An installer image, and the node keys that select it."""

    reference: str
    platform: str
    at: Position
    keys: dict[str, MappingEntry] = field(default_factory=dict)


@dataclass(slots=True)
class SchematicKeys:
    """The node keys that select a schematic, and its ID."""

    id: str
    at: Position
    keys: dict[str, MappingEntry]

    def installer(
        self, host: str, mode: str, version: str, *, secureboot: bool
    ) -> FactoryInstaller:
        """Return the factory's installer for this schematic."""
        secured = "-secureboot" if secureboot else ""
        keys = self.keys | (_secureboot_entries(self.at) if secureboot else {})
        reference = f"{host}/{mode}-installer{secured}/{self.id}:{version}"
        return FactoryInstaller(reference=reference, platform=mode, at=self.at, keys=keys)


def parse_installer(url: ScalarNode, version: str, *, secureboot: bool) -> FactoryInstaller | None:
    """Parse an installer reference without a tag. None: it is not from an image factory."""
    match = _REFERENCE.fullmatch(url.text)
    if match is None:
        return None
    keys = {"schematic_id": MappingEntry(url, text_scalar(match["id"], url), name="talosImageURL")}
    if match["secure"] or secureboot:
        keys |= _secureboot_entries(url.at)
    return FactoryInstaller(
        reference=f"{url.text}:{version}",
        platform=match["platform"] or "metal",
        at=url.at,
        keys=keys,
    )


def schematic_keys(node: TreeNode | None, otherwise: ScalarNode) -> SchematicKeys | None:
    """Return the keys for an inline schematic; without one, for the default image."""
    written = to_plain_data(node) if node is not None else {"customization": {}}
    schematic = read_schematic(written, Problems(), None) if isinstance(written, dict) else None
    if schematic is None:
        return None
    at = otherwise.at if node is None else node.at
    wanted_id = schematic_id(schematic)
    if node is not None and schematic == ImageSchematic(
        extensions=schematic.extensions, kernel_args=schematic.kernel_args
    ):
        keys = _schematic_entries(node, schematic)
        if keys:
            return SchematicKeys(wanted_id, at, keys)
    if node is not None and schematic != ImageSchematic():
        return SchematicKeys(
            wanted_id, at, {"talos.schematic": MappingEntry(_key("schematic", at), node)}
        )
    text = ScalarNode(wanted_id, at, plain=False, span=(0, 0))
    return SchematicKeys(wanted_id, at, {"schematic_id": MappingEntry(_key("schematic", at), text)})


def _schematic_entries(node: TreeNode, schematic: ImageSchematic) -> dict[str, MappingEntry]:
    """Return extensions and kernel arguments as lists."""
    custom = node.get("customization") if isinstance(node, MappingNode) else None
    if not isinstance(custom, MappingNode):
        return {}
    keys: dict[str, MappingEntry] = {}
    extensions, arguments = custom.get("systemExtensions"), custom.get("extraKernelArgs")
    names = extensions.get("officialExtensions") if isinstance(extensions, MappingNode) else None
    if schematic.extensions and names is not None:
        keys["talos.extensions"] = MappingEntry(_key("schematic", names.at), names)
    if schematic.kernel_args and arguments is not None:
        keys["talos.kernel_args"] = MappingEntry(_key("schematic", arguments.at), arguments)
    return keys


def _secureboot_entries(at: Position) -> dict[str, MappingEntry]:
    value = ScalarNode("true", at, plain=True, span=(0, 0))
    return {"secureboot": MappingEntry(_key("secureboot", at), value)}


def _key(text: str, at: Position) -> ScalarNode:
    return ScalarNode(text, at, plain=False, span=(0, 0))
