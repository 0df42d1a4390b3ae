"""Installer images of other tools, in our words: schematic, platform, SecureBoot."""

from __future__ import annotations

import re
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
from stockman.model.problem import Problems
from stockman.talos.schematic import ImageSchematic, read_schematic, schematic_id

_REFERENCE = re.compile(
    r"(?P<host>[^/]+)/(?:(?P<platform>[a-z]+)-)?installer(?P<secure>-secureboot)?"
    r"/(?P<id>[0-9a-f]{64})"
)


@dataclass(slots=True)
class FactoryInstaller:
    """An installer, and the keys of a node that ask for it."""

    reference: str
    platform: str
    at: Position
    keys: dict[str, MappingEntry] = field(default_factory=dict)


@dataclass(slots=True)
class SchematicKeys:
    """The keys of a node that ask for a schematic, and its id."""

    id: str
    at: Position
    keys: dict[str, MappingEntry]

    def installed(
        self, host: str, mode: str, version: str, *, secureboot: bool
    ) -> FactoryInstaller:
        """The installer of a factory for this schematic."""
        secured = "-secureboot" if secureboot else ""
        keys = self.keys | (_secureboot_entries(self.at) if secureboot else {})
        reference = f"{host}/{mode}-installer{secured}/{self.id}:{version}"
        return FactoryInstaller(reference=reference, platform=mode, at=self.at, keys=keys)


def parse_installer(url: ScalarNode, version: str, *, secureboot: bool) -> FactoryInstaller | None:
    """The installer that an address without a tag names. None: it is not one of a factory."""
    found = _REFERENCE.fullmatch(url.text)
    if found is None:
        return None
    keys = {"schematic_id": MappingEntry(url, text_scalar(found["id"], url), name="talosImageURL")}
    if found["secure"] or secureboot:
        keys |= _secureboot_entries(url.at)
    return FactoryInstaller(
        reference=f"{url.text}:{version}",
        platform=found["platform"] or "metal",
        at=url.at,
        keys=keys,
    )


def schematic_keys(node: TreeNode | None, otherwise: ScalarNode) -> SchematicKeys | None:
    """The keys for a schematic written out; without one, for the image as it is."""
    written = to_plain_data(node) if node is not None else {"customization": {}}
    found = read_schematic(written, Problems(), None) if isinstance(written, dict) else None
    if found is None:
        return None
    at = otherwise.at if node is None else node.at
    wanted = schematic_id(found)
    if node is not None and found == ImageSchematic(
        extensions=found.extensions, kernel_args=found.kernel_args
    ):
        keys = _schematic_entries(node, found)
        if keys:
            return SchematicKeys(wanted, at, keys)
    if node is not None and found != ImageSchematic():
        return SchematicKeys(
            wanted, at, {"talos.schematic": MappingEntry(_key("schematic", at), node)}
        )
    text = ScalarNode(wanted, at, plain=False, span=(0, 0))
    return SchematicKeys(wanted, at, {"schematic_id": MappingEntry(_key("schematic", at), text)})


def _schematic_entries(node: TreeNode, found: ImageSchematic) -> dict[str, MappingEntry]:
    """Extensions and kernel arguments as the lists that they are."""
    custom = node.get("customization") if isinstance(node, MappingNode) else None
    if not isinstance(custom, MappingNode):
        return {}
    keys: dict[str, MappingEntry] = {}
    extensions, arguments = custom.get("systemExtensions"), custom.get("extraKernelArgs")
    names = extensions.get("officialExtensions") if isinstance(extensions, MappingNode) else None
    if found.extensions and names is not None:
        keys["talos.extensions"] = MappingEntry(_key("schematic", names.at), names)
    if found.kernel_args and arguments is not None:
        keys["talos.kernel_args"] = MappingEntry(_key("schematic", arguments.at), arguments)
    return keys


def _secureboot_entries(at: Position) -> dict[str, MappingEntry]:
    value = ScalarNode("true", at, plain=True, span=(0, 0))
    return {"secureboot": MappingEntry(_key("secureboot", at), value)}


def _key(text: str, at: Position) -> ScalarNode:
    return ScalarNode(text, at, plain=False, span=(0, 0))
