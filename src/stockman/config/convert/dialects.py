"""Conversion between the two dialects."""

from __future__ import annotations

from collections.abc import Mapping as Texts
from dataclasses import replace

from stockman.config.classic import (
    CLASSIC_KEYS,
    CLASSIC_ONLY,
    VISIBILITY_KEY,
    repository_address,
    select_sections,
    unflatten,
)
from stockman.config.comments import Comments, read_toml_comments, read_yaml_comments
from stockman.config.convert.output import (
    ConversionResult,
    WrittenConfig,
    classic_files,
    sort_lost_items,
    toml_files,
)
from stockman.config.convert.tree_converter import NO_VALUE, TreeConverter
from stockman.config.language import CLUSTER_SECTIONS, MACHINE_SECTIONS
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, NODES_YAML, load
from stockman.config.source.toml_reader import read_toml
from stockman.config.source.tree import MappingEntry, MappingNode, ScalarNode, TreeNode, decode_text
from stockman.config.source.yaml_reader import read_yaml, scan_tokens
from stockman.config.writers.yaml_writer import Commented
from stockman.model.origin import Position
from stockman.model.problem import Problems

_HARMLESS_CODES = ("config.missing-key", "config.missing-file")
"""Missing keys and files are also missing afterwards; all other values are converted as they
are."""
_ENCRYPTION = "its checksum is of the file that it stands in"
_NOT_SHORT_REASON = "it is part of the address where repository_name is owner/repo, and only there"
_EXPANDED_NOTE = "anchors, aliases and merges are written out"


def classic_to_toml(contents: Texts[str, bytes]) -> ConversionResult:
    """Convert `cluster.yaml` and `nodes.yaml`, either of which may be missing, to
    `cluster.toml`."""
    classic = {name: contents[name] for name in (CLUSTER_YAML, NODES_YAML) if name in contents}
    problems = _find_obstacles(classic)
    if problems:
        return ConversionResult(problems=problems)
    texts = {name: decode_text(name, content) for name, content in classic.items()}
    trees = {name: read_yaml(name, text) for name, text in texts.items()}
    comments = {name: read_yaml_comments(texts[name], tree) for name, tree in trees.items()}
    carrier = TreeConverter(comments, to_toml=True)
    cluster = trees.get(CLUSTER_YAML) or MappingNode(Position(CLUSTER_YAML, 1, 1))
    nodes = trees.get(NODES_YAML) or MappingNode(Position(NODES_YAML, 1, 1))
    _drop_encryption(carrier, (cluster, nodes))
    _drop_empty_keys(carrier, cluster)
    sections = carrier.convert_sections(_in_file_order(unflatten(cluster, Problems())))
    machines = carrier.convert_sections(select_sections(nodes, MACHINE_SECTIONS, Problems()))
    _fold_visibility(carrier, cluster, sections)
    written = _join_files(sections, machines, comments)
    carrier.report_lost_comments()
    return ConversionResult(
        files=toml_files(written),
        lost=sort_lost_items(carrier.lost),
        notes=(_EXPANDED_NOTE,) if any(_has_aliases(text) for text in texts.values()) else (),
    )


def toml_to_classic(contents: Texts[str, bytes]) -> ConversionResult:
    """Convert `cluster.toml` to `cluster.yaml` and `nodes.yaml`."""
    source = {CLUSTER_TOML: contents[CLUSTER_TOML]}
    problems = _find_obstacles(source)
    if problems:
        return ConversionResult(problems=problems)
    text = decode_text(CLUSTER_TOML, source[CLUSTER_TOML])
    tree = read_toml(CLUSTER_TOML, text)
    comments = read_toml_comments(text, tree)
    carrier = TreeConverter({CLUSTER_TOML: comments}, to_toml=False)
    _drop_encryption(carrier, (tree,))
    sections = select_sections(tree, CLUSTER_SECTIONS + MACHINE_SECTIONS, Problems())
    written = WrittenConfig(
        sections=carrier.convert_sections(sections), header=comments.header, footer=comments.footer
    )
    carrier.report_lost_comments()
    return ConversionResult(files=classic_files(written), lost=sort_lost_items(carrier.lost))


def _find_obstacles(files: Texts[str, bytes]) -> Problems:
    """Return errors that must be corrected before a conversion."""
    problems = load(files).problems
    return Problems(problem for problem in problems.errors if problem.code not in _HARMLESS_CODES)


def _drop_encryption(carrier: TreeConverter, trees: tuple[MappingNode, ...]) -> None:
    for tree in trees:
        entry = tree.entries.get("sops")
        if entry is not None:
            carrier.report_lost("sops", entry.key.at, _ENCRYPTION)


def _drop_empty_keys(carrier: TreeConverter, cluster: MappingNode) -> None:
    for name, entry in cluster.entries.items():
        flat = name in CLASSIC_KEYS or name in CLASSIC_ONLY
        if flat and isinstance(entry.value, ScalarNode) and entry.value.is_null:
            carrier.report_lost(name, entry.key.at, NO_VALUE)


def _fold_visibility(
    carrier: TreeConverter, cluster: MappingNode, sections: dict[str, Commented]
) -> None:
    """Merge the comments of the visibility key into the repository URL, which includes it."""
    entry = cluster.entries.get(VISIBILITY_KEY)
    if entry is None or (isinstance(entry.value, ScalarNode) and entry.value.is_null):
        return
    keys = sections["repository"].value if "repository" in sections else {}
    name = cluster.get("repository_name")
    short = (
        isinstance(name, ScalarNode) and repository_address(name.text, private=False) is not None
    )
    if not short or not isinstance(keys, dict):
        carrier.report_lost(VISIBILITY_KEY, entry.key.at, _NOT_SHORT_REASON)
        return
    comments = carrier.take_comments(entry.key)
    url = keys["url"]
    beside = " ".join(text for text in (url.beside, comments.beside) if text)
    keys["url"] = replace(
        url, above=(*url.above, *comments.above), beside=beside, below=(*url.below, *comments.below)
    )


def _join_files(
    sections: dict[str, Commented], machines: dict[str, Commented], comments: dict[str, Comments]
) -> WrittenConfig:
    """Join both files; the header of the second is placed above its first section."""
    nothing = Comments([], [], [], [])
    cluster = comments.get(CLUSTER_YAML, nothing)
    nodes = comments.get(NODES_YAML, nothing)
    between = [lines for lines in (cluster.footer, nodes.header) if lines]
    if machines:
        first = next(iter(machines))
        above = [line for lines in between for line in (*lines, "")]
        machines[first] = replace(machines[first], above=(*above, *machines[first].above))
        footer = nodes.footer
    else:
        footer = tuple(line for lines in (*between, nodes.footer) for line in ("", *lines))
    return WrittenConfig(sections={**sections, **machines}, header=cluster.header, footer=footer)


def _in_file_order(tree: MappingNode) -> MappingNode:
    """Return a tree whose keys are in file order, including flat keys."""
    return MappingNode(
        tree.at,
        {
            name: MappingEntry(
                entry.key, _sort_by_position(entry.value), name=entry.name, via=entry.via
            )
            for name, entry in tree.entries.items()
        },
    )


def _sort_by_position(node: TreeNode) -> TreeNode:
    if not isinstance(node, MappingNode) or any(entry.via for entry in node.entries.values()):
        return node
    by_place = sorted(node.entries.items(), key=lambda pair: pair[1].key.at)
    return _in_file_order(MappingNode(node.at, dict(by_place)))


def _has_aliases(text: str) -> bool:
    return any(type(token).__name__ == "AliasToken" for token in scan_tokens(text))
