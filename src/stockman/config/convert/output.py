"""Source formats of a conversion, and how they are detected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from pathlib import PurePath
from typing import Literal

from stockman.config.classic import (
    CLASSIC_BY_PATH,
    CLASSIC_KEYS,
    VISIBILITY_KEY,
    repository_address,
)
from stockman.config.language import CLUSTER_SECTIONS, MACHINE_SECTIONS
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, NODES_YAML
from stockman.config.source.tree import MappingNode, Unreadable, decode_text
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.writers.toml_writer import render_toml
from stockman.config.writers.yaml_writer import Commented, as_commented, render_yaml_document
from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.model.record import record

SourceFormat = Literal["classic", "toml", "vm", "terraform", "talhelper", "topf"]
TALCONFIG = "talconfig.yaml"
TOPF = "topf.yaml"

_BY_NAME: dict[str, SourceFormat] = {
    CLUSTER_YAML: "classic",
    NODES_YAML: "classic",
    CLUSTER_TOML: "toml",
    TALCONFIG: "talhelper",
    TOPF: "topf",
}
_BY_SUFFIX: dict[str, SourceFormat] = {".toml": "toml", ".tf": "terraform", ".tfvars": "terraform"}
_YAML = (".yaml", ".yml")


def detect_format(name: str, content: bytes) -> SourceFormat | None:
    """Return the format of a file by its name and, for YAML, its content; None: unknown."""
    suffix = PurePath(name).suffix
    known = _BY_NAME.get(name) or _BY_SUFFIX.get(suffix)
    if known is not None or suffix not in _YAML:
        return known
    try:
        tree = read_yaml(name, decode_text(name, content))
    except Unreadable:
        return "vm"  # its reader says what is wrong, and where
    return "vm" if is_vm_file(tree) else None


INVALID_VALUE = "its value does not fit the key that it would have"
"""Reason of an item whose key cannot have its value."""


@record
class LostItem:
    """Something in the source that was not converted."""

    key: str
    """Name in the source."""
    at: Position
    reason: str


def sort_lost_items(lost: Iterable[LostItem]) -> tuple[LostItem, ...]:
    """Sort lost items by file and line."""
    return tuple(sorted(lost, key=lambda item: item.at))


@record
class MissingItem:
    """Something that the result needs and the source does not provide."""

    what: str
    fix: str


KeyState = Literal["taken", "changed", "left out"]


@record
class ConvertedKey:
    """Result of one key of another tool's file."""

    key: str
    """Name in the source."""
    at: Position
    state: KeyState
    how: str
    """Its new key, what was changed, or why it was left out."""


@record
class MachineDifference:
    """A difference between machine configurations of the source and the result."""

    nodes: tuple[str, ...]
    what: str
    """Document and path, `v1alpha1 machine.certSANs`."""
    before: str
    """Value in the source. Empty: not set."""
    after: str
    """Value in the result. Empty: not set."""
    why: str


@record
class ConversionResult:
    """The converted files, or problems if the source cannot be read."""

    files: dict[str, str] = field(default_factory=dict, repr=False)
    """Texts by file name; they may contain secrets, so they are never shown."""
    lost: tuple[LostItem, ...] = ()
    to_fill: tuple[MissingItem, ...] = ()
    notes: tuple[str, ...] = ()
    """Changes that affect the whole text."""
    carried: tuple[ConvertedKey, ...] = ()
    """Result of every key, if the source is another Talos tool."""
    differs: tuple[MachineDifference, ...] = ()
    """Differences between machine configurations, if both could be generated."""
    problems: Problems = field(default_factory=Problems, compare=False)

    @property
    def is_lossy(self) -> bool:
        """Whether a value of the source is missing because its new key does not accept it."""
        return any(item.reason == INVALID_VALUE for item in self.lost)


@record
class WrittenConfig:
    """Sections by name, with only the keys that were written, and comments."""

    sections: dict[str, Commented] = field(default_factory=dict)
    header: tuple[str, ...] = ()
    """Comment lines at the top."""
    footer: tuple[str, ...] = ()
    """Comment lines at the end."""

    @property
    def cluster(self) -> dict[str, Commented]:
        """Sections of the cluster, in the order of the language."""
        return {name: self.sections[name] for name in CLUSTER_SECTIONS if name in self.sections}

    @property
    def machines(self) -> dict[str, Commented]:
        """Sections of machines, in the order written."""
        return {
            name: section for name, section in self.sections.items() if name in MACHINE_SECTIONS
        }


def toml_files(written: WrittenConfig) -> dict[str, str]:
    """Render `cluster.toml`."""
    sections = {**written.cluster, **written.machines}
    text = render_toml(
        Commented(
            value=sections,
            above=(*written.header, "") if written.header else (),
            below=("", *written.footer) if written.footer else (),
        )
    )
    return {CLUSTER_TOML: text}


_ORDER = [
    name
    for key in CLASSIC_KEYS
    for name in ((key, VISIBILITY_KEY) if key == "repository_branch" else (key,))
]
_GITHUB = ("https://github.com/", "ssh://git@github.com/")


def classic_files(written: WrittenConfig) -> dict[str, str]:
    """Render `cluster.yaml` and `nodes.yaml`."""
    flat: dict[str, Commented] = {}
    sections: dict[str, Commented] = {}
    for name, section in written.cluster.items():
        left = _flatten(name, section, flat)
        if left is not None:
            sections[name] = left
    cluster = {name: flat[name] for name in _ORDER if name in flat}
    return {
        CLUSTER_YAML: _render_file(_separate_subjects(cluster, sections), written.header, ()),
        NODES_YAML: _render_file(_machine_sections(written), (), written.footer),
    }


def _render_file(
    keys: dict[str, Commented], header: tuple[str, ...], footer: tuple[str, ...]
) -> str:
    return render_yaml_document(
        Commented(
            value=keys,
            above=(*header, "") if header else (),
            below=("", *footer) if footer else (),
        )
    )


def _flatten(path: str, section: Commented, flat: dict[str, Commented]) -> Commented | None:
    """Move keys with flat names to `flat`; return what remains of the section, or None."""
    value = section.value
    if not isinstance(value, dict):
        return section
    taken: dict[str, Commented] = {}
    left: dict[str, Commented] = {}
    for name, item in value.items():
        inner = f"{path}.{name}"
        flat_keys = _flat_keys(inner, item)
        if flat_keys:
            taken.update(flat_keys)
            continue
        remaining = _flatten(inner, item, taken)
        if remaining is not None:
            left[name] = remaining
    if taken and not left:
        _move_comments(section, taken)
        flat.update(taken)
        return None
    flat.update(taken)
    return replace(section, value=left)


def _move_comments(section: Commented, taken: dict[str, Commented]) -> None:
    """Attach the comments of a removed section to its first and last key."""
    first = min(taken, key=_ORDER.index)
    last = max(taken, key=_ORDER.index)
    beside = (section.beside,) if section.beside else ()
    above = (*section.above, *beside)
    if any(above):
        taken[first] = replace(taken[first], above=(*above, *taken[first].above))
    taken[last] = replace(taken[last], below=(*taken[last].below, *section.below))


def _flat_keys(path: str, item: Commented) -> dict[str, Commented]:
    """Return a value under its flat names; empty: it has no flat form."""
    match path:
        case "dns.provider":
            return {"cloudflare_enabled": replace(item, value=item.value == "cloudflare")}
        case "repository.url":
            return _flat_repository(item)
        case "backup.targets":
            return _flat_backup_target(item)
        case "backup.recipients":
            return _flat_single_item(item, "backup_age_public_key")
    name = CLASSIC_BY_PATH.get(path)
    return {} if name is None else {name: item}


def _flat_repository(url: Commented) -> dict[str, Commented]:
    address = str(url.value)
    for base in _GITHUB:
        name = address.removeprefix(base).removesuffix(".git")
        private = base.startswith("ssh")
        if repository_address(name, private=private) == address:
            short = {"repository_name": replace(url, value=name)}
            return {**short, VISIBILITY_KEY: Commented(value="private")} if private else short
    return {"repository_name": url}


def _flat_backup_target(targets: Commented) -> dict[str, Commented]:
    items = targets.value if isinstance(targets.value, list) else []
    target = as_commented(items[0]) if len(items) == 1 else Commented(value={})
    keys = target.value if isinstance(target.value, dict) else {}
    names = {key: CLASSIC_BY_PATH.get(f"backup.targets[0].{key}") for key in keys}
    taken = {name: as_commented(keys[key]) for key, name in names.items() if name is not None}
    if not taken or len(taken) != len(keys):
        return {}
    _move_comments(target, taken)
    _move_comments(targets, taken)
    return taken


def _flat_single_item(source: Commented, name: str) -> dict[str, Commented]:
    items = source.value if isinstance(source.value, list) else []
    if len(items) != 1:
        return {}
    taken = {name: as_commented(items[0])}
    _move_comments(source, taken)
    return taken


def _separate_subjects(
    cluster: dict[str, Commented], sections: dict[str, Commented]
) -> dict[str, Commented]:
    """Add a blank line before each new subject."""
    spaced: dict[str, Commented] = {}
    subject = ""
    for name, item in cluster.items():
        own = CLASSIC_KEYS[name].split(".")[0] if name in CLASSIC_KEYS else subject
        spaced[name] = item if own == subject else _with_blank_line(item)
        subject = own
    return {**spaced, **{name: _with_blank_line(section) for name, section in sections.items()}}


def _machine_sections(written: WrittenConfig) -> dict[str, Commented]:
    """Return the sections of nodes.yaml, which is never empty."""
    if not written.machines:
        return {"nodes": Commented(value=[])}
    return {name: _with_blank_line(section) for name, section in written.machines.items()}


def _with_blank_line(item: Commented) -> Commented:
    return item if item.above[:1] == ("",) else replace(item, above=("", *item.above))


def is_vm_file(tree: MappingNode) -> bool:
    """Return whether a YAML file is a mapping of VMs."""
    values = [entry.value for entry in tree.entries.values()]
    return (
        bool(values)
        and all(isinstance(value, MappingNode) for value in values)
        and any(
            {"id", "node"} <= set(value.entries)
            for value in values
            if isinstance(value, MappingNode)
        )
    )
