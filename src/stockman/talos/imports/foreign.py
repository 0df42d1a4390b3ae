"""What the directory of another tool contains, in one form for all tools, and reading its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from stockman.config.convert.draft import ConfigDraft, text_scalar
from stockman.config.convert.output import ConvertedKey, KeyState, LostItem
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    Unreadable,
    decode_text,
    to_plain_data,
)
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.compatibility import talos_lines
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.secret import is_encrypted
from stockman.model.version import Version
from stockman.talos.documents import Document
from stockman.talos.imports.go_template import UnsupportedTemplate
from stockman.talos.patches.patch import Patch
from stockman.talos.schematic import ImageSchematic, read_schematic, schematic_id

PatchScope = Literal["all", "controller", "worker", "node"]
PatchOrder = Literal["specific", "talhelper"]
_LIST_ITEM = pattern(r"\[\d+\]\Z")
_ITEM = pattern(r"\[\d+\][^\[\]]*\Z")
NOWHERE = Position("", 0, 0)


@dataclass(slots=True, frozen=True)
class ForeignPatch:
    """One document that is merged into a machine's configuration."""

    label: str
    """The name the user knows: its file name, or the path of its key."""
    scope: PatchScope
    index: tuple[int, int]
    """Index of the patch in its scope, and of the document in the patch."""
    document: MappingNode
    written: Patch | None = None
    """The patch as written in its file. None: it was generated from a key."""

    @property
    def at(self) -> Position:
        return self.document.at


@dataclass(slots=True)
class ForeignNode:
    """One machine of the other tool."""

    name: str
    at: Position
    is_controller: bool
    keys: MappingNode
    """Its keys in our format, without network and patches."""
    base: list[Document]
    """Documents that the tool generates before any patch, without secrets."""
    extra: list[ForeignPatch]
    """Patches for parts of the base that no key can express."""
    patches: list[ForeignPatch]
    """Patches that the tool merges into the base, in its order."""
    address: str = ""
    """Empty: unknown."""
    devices: list[Document] = field(default_factory=list)
    """Links in the format of the v1alpha1 document."""
    devices_at: Position = NOWHERE
    installer_at: Position = NOWHERE
    mac: str = ""
    """Empty: only the links define it."""


@dataclass(slots=True)
class ForeignCluster:
    """A cluster of another tool."""

    tool: str
    building: ConfigDraft
    contract: str = "1.13"
    order: PatchOrder = "specific"
    nodes: list[ForeignNode] = field(default_factory=list)
    outcomes: dict[str, dict[ConvertedKey, None]] = field(default_factory=dict)
    """What became of each key, by key."""
    problems: Problems = field(default_factory=Problems)
    notes: list[str] = field(default_factory=list)
    lists: set[str] = field(default_factory=set)
    """Names of lists of which an item was recorded."""
    files: dict[str, str] = field(default_factory=dict)
    """Files that are copied unchanged, by their new names."""

    def record(self, key: str, at: Position, state: KeyState, how: str) -> None:
        """Record what became of a key. A key that is left out is no longer `taken`."""
        known = self.outcomes.setdefault(key, {})
        if state == "left out":
            for carried in [carried for carried in known if carried.state == "taken"]:
                del known[carried]
        known[ConvertedKey(key=key, at=at, state=state, how=how)] = None
        self.lists.add(_ITEM.sub("", key))

    def record_lost(self, item: LostItem) -> None:
        """Record that a key that was taken lost its value, or an item of it."""
        name = _LIST_ITEM.sub("", item.key)
        for known in self.outcomes.values():
            for carried in [carried for carried in known if carried.state == "taken"]:
                if name in (carried.key, carried.how):
                    del known[carried]
                    state: KeyState = "left out" if name == item.key else "changed"
                    how = f"{item.key} is left out: {item.reason}"
                    known[replace(carried, state=state, how=how)] = None


def build_node(value: object, at: Position) -> TreeNode:
    """Return a value as a tree whose nodes all have one position."""
    if isinstance(value, dict):
        entries = {
            str(key): MappingEntry(new_scalar(str(key), at), build_node(item, at))
            for key, item in value.items()
        }
        return MappingNode(at, entries)
    if isinstance(value, list | tuple):
        return SequenceNode(at, [build_node(item, at) for item in value])
    if isinstance(value, str):
        return new_scalar(value, at)
    text = "null" if value is None else str(value)
    return new_scalar(text.lower() if isinstance(value, bool) else text, at, plain=True)


def build_document(value: Document, at: Position) -> MappingNode:
    """Return a document as a tree whose nodes all have one position."""
    node = build_node(value, at)
    return node if isinstance(node, MappingNode) else MappingNode(at)


def nest_value(path: str, value: TreeNode, at: Position | None = None) -> MappingNode:
    """Return a document that has a value at a path of keys."""
    for key in reversed(path.split(".")):
        value = MappingNode(
            at or value.at, {key: MappingEntry(new_scalar(key, at or value.at), value)}
        )
    return value if isinstance(value, MappingNode) else MappingNode(value.at)


def list_items(node: TreeNode | None) -> list[TreeNode]:
    """Return the items of a list; empty for anything else."""
    return list(node.items) if isinstance(node, SequenceNode) else []


def iter_scalars(node: TreeNode) -> Iterator[ScalarNode]:
    """Yield every scalar of a tree, keys included."""
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, MappingNode):
        for entry in node.entries.values():
            yield entry.key
            yield from iter_scalars(entry.value)
    else:
        for item in node.items:
            yield from iter_scalars(item)


def source_files(node: TreeNode) -> set[str]:
    """Return the files that the values of a tree were written in."""
    files = {node.at.file}
    if isinstance(node, MappingNode):
        for entry in node.entries.values():
            files |= {entry.key.at.file} | source_files(entry.value)
    elif isinstance(node, SequenceNode):
        for item in node.items:
            files |= source_files(item)
    return files


def new_scalar(text: str, at: Position, *, plain: bool = False) -> ScalarNode:
    """Return a scalar that was not written in any file."""
    return ScalarNode(text, at, plain=plain, span=(0, 0))


def text_entry(text: str, at: Position, name: str = "") -> MappingEntry:
    """Return an entry with a text that was not written in any file."""
    value = new_scalar(text, at)
    return MappingEntry(value, value, name=name)


NEWEST_SUPPORTED_CONTRACT = (1, 13)
"""The newest contract whose configurations other tools generate like Talos itself."""
_VERSION = pattern(r"v?(\d+)\.(\d+)\.\d+\S*")


def set_contract(foreign: ForeignCluster, text: str, at: Position) -> bool:
    """Set the contract from a Talos version; False: the version is unknown."""
    match = _VERSION.fullmatch(text) if _is_version(text) else None
    minors = [line.line.minor_text for line in talos_lines()]
    if match is not None and f"{match[1]}.{match[2]}" in minors:
        minor = (int(match[1]), int(match[2]))
        foreign.contract = ".".join(map(str, min(minor, NEWEST_SUPPORTED_CONTRACT)))
        if minor > NEWEST_SUPPORTED_CONTRACT:
            foreign.notes.append(
                f"{foreign.tool} supports only a draft of the contract {match[1]}.{match[2]}; "
                f"machines are written and compared with the contract {foreign.contract}"
            )
        return True
    foreign.problems.add(
        Problem(
            code="import.version",
            what=f"{text!r} is not a supported Talos version",
            where=at,
            why=f"the configuration depends on it; supported are {minors[0]} to {minors[-1]}",
            fix=f"use a version such as v{minors[-1]}.1, or upgrade the cluster first",
        )
    )
    return False


def check_kubernetes_version(foreign: ForeignCluster, text: str, at: Position) -> None:
    """Report an invalid Kubernetes version."""
    if not _is_version(text):
        foreign.problems.add(
            Problem(
                code="import.version",
                what=f"{text!r} is not a valid Kubernetes version",
                where=at,
                why="the image versions of every machine depend on it",
                fix="use a version such as v1.36.0",
            )
        )


def _is_version(text: str) -> bool:
    try:
        Version.parse(text.removeprefix("v"))
    except ValueError:
        return False
    return True


def missing_file_problem(path: str, where: Position | str, tool: str) -> Problem:
    return Problem(
        code="import.missing-file",
        what=f"{path} does not exist",
        where=where,
        why=f"{tool} would fail here as well",
        fix="create the file, or remove the reference to it",
    )


def missing_key_problem(key: str, at: Position, tool: str) -> Problem:
    return Problem(
        code="config.missing-key",
        what=f"{key} is missing",
        where=at,
        why=f"{tool} requires it, and stockman does not guess",
        fix=f"add `{key.rpartition('.')[2]}:`",
    )


def no_nodes_problem(at: Position) -> Problem:
    return Problem(
        code="import.no-nodes",
        what=f"{at.file} defines no nodes",
        where=at,
        why="a cluster without machines cannot be imported",
        fix="check that this is the right directory",
    )


def not_a_mapping_problem(what: str, at: Position) -> Problem:
    return Problem(
        code="config.not-a-mapping",
        what=f"{what} is not a mapping",
        where=at,
        why="a node has keys, such as its name and address",
        fix="write the keys of the node",
    )


def invalid_patch_problem(what: str, at: Position, tool: str) -> Problem:
    return Problem(
        code="patch.form",
        what=f"{what} is not a configuration patch",
        where=at,
        why=f"{tool} accepts texts of keys, or files with keys in them",
        fix="write keys, such as `machine: {sysctls: {...}}`",
    )


def template_problem(label: str, error: UnsupportedTemplate) -> Problem:
    return Problem(
        code="import.template",
        what=f"{label} uses an unsupported template",
        where=error.at,
        why=error.why,
        fix="replace the template by its result, or write one patch per node",
    )


ReadFile = Callable[[str], bytes | None]
"""The content of a file by its path in the directory. None: there is no such file."""
ListFiles = Callable[[str], list[str]]
"""Paths of all files below a directory, in the order of their names."""

SOPS = "sops"


def read_text(read: ReadFile, path: str) -> str | None:
    """Return the text of a file; raises Unreadable. None: there is no such file."""
    content = read(path)
    return None if content is None else decode_text(path, content)


def is_sops_encrypted(text: str, path: str) -> bool:
    """Whether a YAML file is encrypted by SOPS, whatever its name says."""
    try:
        tree = read_yaml(path, text)
    except Unreadable:
        return False
    return SOPS in tree.entries


def is_fully_encrypted(tree: MappingNode) -> bool:
    """Whether SOPS encrypted every value of a file."""
    return SOPS in tree.entries and all(
        _is_encrypted_node(entry.value) for name, entry in tree.entries.items() if name != SOPS
    )


def _is_encrypted_node(node: TreeNode) -> bool:
    if isinstance(node, ScalarNode):
        return node.is_null or not node.text or is_encrypted(node.text)
    if isinstance(node, SequenceNode):
        return all(_is_encrypted_node(item) for item in node.items)
    return all(_is_encrypted_node(entry.value) for entry in node.entries.values())


BUNDLE = "the secrets bundle"
"""Placeholder for the file name, which depends on the format."""
BUNDLE_NAMES = {False: "talos/talsecret.sops.yaml", True: "talos/secrets.sops.yaml"}
"""File name in a classic directory, and beside `cluster.toml`."""


def import_bundle(foreign: ForeignCluster, read: ReadFile, names: tuple[str, ...]) -> None:
    """Import the first of some files that exists; an unencrypted bundle is never copied."""
    for name in names:
        try:
            text = read_text(read, name)
            tree = None if text is None else read_yaml(name, text)
        except Unreadable as error:
            foreign.problems.add(error.problem)
            return
        if text is None or tree is None:
            continue
        at = Position(name, 1, 1)
        if is_fully_encrypted(tree):
            foreign.files[BUNDLE] = text
            foreign.record(name, at, "taken", f"{BUNDLE}, byte for byte")
        else:
            foreign.record(name, at, "left out", "it is not encrypted, and was not copied")
            foreign.problems.add(_plain_text_problem(name))
        return
    foreign.notes.append(
        f"neither {' nor '.join(names[:2])} exists: import the bundle from the running cluster"
    )


def _plain_text_problem(name: str) -> Problem:
    return Problem(
        code="import.open-bundle",
        what=f"{name} holds the secrets of the cluster unencrypted",
        where=name,
        why="anyone who can read it controls the cluster; it was not copied",
        fix=f"encrypt it with SOPS and save it as {BUNDLE_NAMES[False]} (beside cluster.toml: "
        f"{BUNDLE_NAMES[True]})",
        severity=Severity.WARNING,
    )


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
            wanted_id, at, {"talos.schematic": MappingEntry(new_scalar("schematic", at), node)}
        )
    text = new_scalar(wanted_id, at)
    return SchematicKeys(
        wanted_id, at, {"schematic_id": MappingEntry(new_scalar("schematic", at), text)}
    )


def _schematic_entries(node: TreeNode, schematic: ImageSchematic) -> dict[str, MappingEntry]:
    """Return extensions and kernel arguments as lists."""
    custom = node.get("customization") if isinstance(node, MappingNode) else None
    if not isinstance(custom, MappingNode):
        return {}
    keys: dict[str, MappingEntry] = {}
    extensions, arguments = custom.get("systemExtensions"), custom.get("extraKernelArgs")
    names = extensions.get("officialExtensions") if isinstance(extensions, MappingNode) else None
    if schematic.extensions and names is not None:
        keys["talos.extensions"] = MappingEntry(new_scalar("schematic", names.at), names)
    if schematic.kernel_args and arguments is not None:
        keys["talos.kernel_args"] = MappingEntry(new_scalar("schematic", arguments.at), arguments)
    return keys


def _secureboot_entries(at: Position) -> dict[str, MappingEntry]:
    value = new_scalar("true", at, plain=True)
    return {"secureboot": MappingEntry(new_scalar("secureboot", at), value)}
