"""Load the files of a directory into a configuration, and report all form errors."""

from __future__ import annotations

from collections.abc import Mapping as Texts
from dataclasses import field

from stockman.config.classic import CLASSIC_KEYS, select_sections, unflatten
from stockman.config.former_keys import (
    MAX_UNKNOWN_KEYS,
    advise_on_key,
    report_more_unknown_keys,
)
from stockman.config.gc_pause import pause_gc
from stockman.config.language import CLUSTER_SECTIONS, MACHINE_SECTIONS, Configuration
from stockman.config.node_classes import apply_classes
from stockman.config.record_reader import ReadContext, read_record
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    TreeNode,
    Unreadable,
    decode_text,
)
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret

CLUSTER_YAML = "cluster.yaml"
NODES_YAML = "nodes.yaml"
CLUSTER_TOML = "cluster.toml"
CONFIG_FILES = (CLUSTER_YAML, NODES_YAML, CLUSTER_TOML)
_DEFAULT_POSITION = Position(CLUSTER_YAML, 1, 1)


@record
class LoadedConfig:
    """A loaded configuration, as far as it could be read, with all problems."""

    configuration: Configuration
    problems: Problems
    texts: dict[str, str]
    """Texts of the files by name, if they are text."""
    classic: bool
    """Whether the files use the classic dialect."""
    complete: bool
    """Whether all files could be parsed. If not, missing keys are not reported."""
    plain_secrets: tuple[Origin, ...]
    """Positions of unencrypted secrets."""
    secrets: tuple[Secret, ...]
    """All secrets, in any form."""
    encrypted: tuple[Origin, ...]
    """Encrypted values that are not secrets, and therefore unknown."""
    patch_nodes: dict[Position, TreeNode] = field(default_factory=dict, repr=False, compare=False)
    """Trees of patches with nested positions, by their position."""


def load(contents: Texts[str, bytes]) -> LoadedConfig:
    """Load the files of one directory, given by name."""
    with pause_gc():
        return _load(contents)


def _load(contents: Texts[str, bytes]) -> LoadedConfig:
    problems = Problems()
    reading = ReadContext(problems)
    texts: dict[str, str] = {}
    trees: dict[str, MappingNode] = {}
    for name in CONFIG_FILES:
        if name not in contents:
            continue
        try:
            texts[name] = decode_text(name, contents[name])
            trees[name] = _read_tree(name, texts[name])
        except Unreadable as unreadable:
            problems.add(unreadable.problem)
    _check_files(contents, problems)
    classic = CLUSTER_TOML not in contents
    tree = _merge_files(trees, problems)
    _drop_blank_bgp(tree)
    apply_classes(tree, reading)
    return LoadedConfig(
        configuration=read_record(Configuration, tree, reading) or Configuration(),
        problems=problems,
        texts=texts,
        classic=classic,
        complete=all(name in trees for name in contents if name in CONFIG_FILES),
        plain_secrets=tuple(dict.fromkeys(reading.plain_secrets)),
        secrets=tuple(dict.fromkeys(reading.secrets)),
        encrypted=tuple(dict.fromkeys(reading.encrypted)),
        patch_nodes=reading.kept_nodes,
    )


def _read_tree(name: str, text: str) -> MappingNode:
    if name != CLUSTER_TOML:
        return read_yaml(name, text)
    from stockman.config.source.toml_reader import read_toml

    return read_toml(name, text)


def _merge_files(trees: dict[str, MappingNode], problems: Problems) -> MappingNode:
    merged = MappingNode(next((tree.at for tree in trees.values()), _DEFAULT_POSITION))
    for name, tree in trees.items():
        if name == CLUSTER_YAML:
            sections = unflatten(tree, problems)
        elif name == NODES_YAML:
            sections = select_sections(tree, MACHINE_SECTIONS, problems)
        else:
            sections = select_sections(tree, CLUSTER_SECTIONS + MACHINE_SECTIONS, problems)
        known = {
            CLUSTER_YAML: (*CLASSIC_KEYS, *CLUSTER_SECTIONS),
            NODES_YAML: MACHINE_SECTIONS,
            CLUSTER_TOML: CLUSTER_SECTIONS + MACHINE_SECTIONS,
        }[name]
        unknown: list[MappingEntry] = []
        for key, entry in sections.entries.items():
            if key in CLUSTER_SECTIONS or key in MACHINE_SECTIONS:
                merged.entries[key] = entry
                continue
            unknown.append(entry)
            if len(unknown) > MAX_UNKNOWN_KEYS:
                continue
            advice = advise_on_key(key, known)
            problems.error(
                "config.unknown-key",
                f"{key} is not a key of {name}",
                why=f"{name} knows no {key!r}" + (f"; {advice.reason}" if advice.reason else ""),
                fix=advice.fix or "remove it, or see `stockman explain`",
                at=entry.key.at,
            )
        if len(unknown) > MAX_UNKNOWN_KEYS:
            at = unknown[MAX_UNKNOWN_KEYS].key.at
            report_more_unknown_keys(problems, name, len(unknown), at)
    return merged


def _drop_blank_bgp(tree: MappingNode) -> None:
    """Drop empty texts of BGP, which mean in cluster-template that there is none."""
    cilium = tree.get("cilium")
    bgp = cilium.get("bgp") if isinstance(cilium, MappingNode) else None
    if not isinstance(bgp, MappingNode) or not isinstance(cilium, MappingNode):
        return
    kept = {
        name: entry
        for name, entry in bgp.entries.items()
        if not isinstance(entry.value, ScalarNode) or entry.value.text.strip()
    }
    entry = cilium.entries["bgp"]
    cilium.entries["bgp"] = MappingEntry(entry.key, MappingNode(bgp.at, kept), name=entry.name)


def _check_files(contents: Texts[str, bytes], problems: Problems) -> None:
    classic = CLUSTER_YAML in contents or NODES_YAML in contents
    if CLUSTER_TOML in contents and classic:
        problems.error(
            "config.two-dialects",
            f"{CLUSTER_TOML} stands beside {CLUSTER_YAML} or {NODES_YAML}",
            why="both describe the cluster, and they need not agree",
            fix="keep one dialect; `stockman convert` turns one into the other",
            at=CLUSTER_TOML,
        )
    elif CLUSTER_TOML not in contents and not classic:
        problems.error(
            "config.no-files",
            "there is no configuration here",
            why=f"neither {CLUSTER_YAML} nor {CLUSTER_TOML} exists in this directory",
            fix="run `stockman init`, or name the directory with `-C`",
        )
    elif classic:
        for missing in (CLUSTER_YAML, NODES_YAML):
            if missing not in contents:
                problems.error(
                    "config.missing-file",
                    f"{missing} is missing",
                    why="the classic dialect has two files: the cluster's keys and its machines",
                    fix=f"write {missing}; `stockman init` makes a commented one",
                    at=missing,
                )
