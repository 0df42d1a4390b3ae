"""Conversion between the two dialects."""

from __future__ import annotations

from collections.abc import Mapping as Texts
from dataclasses import replace

from stockman.config.classic import checked_sections, repository_address, unflattened
from stockman.config.comments import Comments, comments_of_toml, comments_of_yaml
from stockman.config.convert.carry import NO_VALUE, Carrier
from stockman.config.convert.into_classic import classic_files
from stockman.config.convert.into_toml import toml_files
from stockman.config.convert.result import Converted, in_order
from stockman.config.convert.written import Written
from stockman.config.dialect import CLASSIC_KEYS, CLASSIC_ONLY, VISIBILITY
from stockman.config.language.estate import CLUSTER_SECTIONS, MACHINE_SECTIONS
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, NODES_YAML, load
from stockman.config.noted import Noted
from stockman.config.source.text import decoded
from stockman.config.source.toml_reader import read_toml
from stockman.config.source.tree import Entry, Mapping, Node, Scalar
from stockman.config.source.yaml_reader import read_yaml, tokens
from stockman.model.origin import Position
from stockman.model.problem import Problems

_HARMLESS = ("config.missing-key", "config.missing-file")
"""What is missing before is missing afterwards; all else is written down as it is."""
_ENCRYPTION = "its checksum is of the file that it stands in"
_NOT_SHORT = "it is part of the address where repository_name is owner/repo, and only there"
_EXPANDED = "anchors, aliases and merges are written out"


def classic_to_toml(contents: Texts[str, bytes]) -> Converted:
    """`cluster.toml` of `cluster.yaml` and `nodes.yaml`; either may be missing."""
    given = {name: contents[name] for name in (CLUSTER_YAML, NODES_YAML) if name in contents}
    problems = _obstacles(given)
    if problems:
        return Converted(problems=problems)
    texts = {name: decoded(name, content) for name, content in given.items()}
    trees = {name: read_yaml(name, text) for name, text in texts.items()}
    comments = {name: comments_of_yaml(texts[name], tree) for name, tree in trees.items()}
    carrier = Carrier(comments, to_toml=True)
    cluster = trees.get(CLUSTER_YAML) or Mapping(Position(CLUSTER_YAML, 1, 1))
    nodes = trees.get(NODES_YAML) or Mapping(Position(NODES_YAML, 1, 1))
    _lose_encryption(carrier, (cluster, nodes))
    _lose_empty_keys(carrier, cluster)
    sections = carrier.sections(_as_written(unflattened(cluster, Problems())))
    machines = carrier.sections(checked_sections(nodes, MACHINE_SECTIONS, Problems()))
    _fold_visibility(carrier, cluster, sections)
    written = _joined(sections, machines, comments)
    carrier.lose_the_rest()
    return Converted(
        files=toml_files(written),
        lost=in_order(carrier.lost),
        notes=(_EXPANDED,) if any(_has_aliases(text) for text in texts.values()) else (),
    )


def toml_to_classic(contents: Texts[str, bytes]) -> Converted:
    """`cluster.yaml` and `nodes.yaml` of `cluster.toml`."""
    given = {CLUSTER_TOML: contents[CLUSTER_TOML]}
    problems = _obstacles(given)
    if problems:
        return Converted(problems=problems)
    text = decoded(CLUSTER_TOML, given[CLUSTER_TOML])
    tree = read_toml(CLUSTER_TOML, text)
    comments = comments_of_toml(text, tree)
    carrier = Carrier({CLUSTER_TOML: comments}, to_toml=False)
    _lose_encryption(carrier, (tree,))
    whole = checked_sections(tree, CLUSTER_SECTIONS + MACHINE_SECTIONS, Problems())
    written = Written(
        sections=carrier.sections(whole), header=comments.header, footer=comments.footer
    )
    carrier.lose_the_rest()
    return Converted(files=classic_files(written), lost=in_order(carrier.lost))


def _obstacles(given: Texts[str, bytes]) -> Problems:
    """What has to be put right first: a conversion never guesses."""
    found = load(given).problems
    return Problems(problem for problem in found.errors if problem.code not in _HARMLESS)


def _lose_encryption(carrier: Carrier, trees: tuple[Mapping, ...]) -> None:
    for tree in trees:
        entry = tree.entries.get("sops")
        if entry is not None:
            carrier.lose("sops", entry.key.at, _ENCRYPTION)


def _lose_empty_keys(carrier: Carrier, cluster: Mapping) -> None:
    for name, entry in cluster.entries.items():
        flat = name in CLASSIC_KEYS or name in CLASSIC_ONLY
        if flat and isinstance(entry.value, Scalar) and entry.value.is_null:
            carrier.lose(name, entry.key.at, NO_VALUE)


def _fold_visibility(carrier: Carrier, cluster: Mapping, sections: dict[str, Noted]) -> None:
    """Visibility is part of the repository's address, and its comments are that key's."""
    entry = cluster.entries.get(VISIBILITY)
    if entry is None or (isinstance(entry.value, Scalar) and entry.value.is_null):
        return
    keys = sections["repository"].value if "repository" in sections else {}
    name = cluster.get("repository_name")
    short = isinstance(name, Scalar) and repository_address(name.text, private=False) is not None
    if not short or not isinstance(keys, dict):
        carrier.lose(VISIBILITY, entry.key.at, _NOT_SHORT)
        return
    around = carrier.comments_of_key(entry.key)
    url = keys["url"]
    beside = " ".join(text for text in (url.beside, around.beside) if text)
    keys["url"] = replace(
        url, above=(*url.above, *around.above), beside=beside, below=(*url.below, *around.below)
    )


def _joined(
    sections: dict[str, Noted], machines: dict[str, Noted], comments: dict[str, Comments]
) -> Written:
    """Two files as one: the head of the second stands above its first section."""
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
    return Written(sections={**sections, **machines}, header=cluster.header, footer=footer)


def _as_written(tree: Mapping) -> Mapping:
    """A tree whose keys stand in the order of the file, the flat ones among the others."""
    return Mapping(
        tree.at,
        {
            name: Entry(entry.key, _in_order(entry.value), name=entry.name, via=entry.via)
            for name, entry in tree.entries.items()
        },
    )


def _in_order(node: Node) -> Node:
    if not isinstance(node, Mapping) or any(entry.via for entry in node.entries.values()):
        return node
    by_place = sorted(node.entries.items(), key=lambda pair: pair[1].key.at)
    return _as_written(Mapping(node.at, dict(by_place)))


def _has_aliases(text: str) -> bool:
    return any(type(token).__name__ == "AliasToken" for token in tokens(text))
