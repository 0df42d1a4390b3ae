"""Final steps of conversions from files of other tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from stockman.config.comments import Comments
from stockman.config.convert.draft import ConfigDraft, DraftMachine
from stockman.config.convert.output import WrittenConfig, classic_files, toml_files
from stockman.config.convert.result import ConversionResult, MissingItem, sort_lost_items
from stockman.config.convert.tree_converter import TreeConverter
from stockman.config.load import load
from stockman.config.rules import check_rules
from stockman.config.source.tree import MappingEntry
from stockman.config.writers.commented import Commented
from stockman.model.pattern import pattern

NO_COMMENTS = Comments([], [], [], [])
_MISSING_IN_NODE = pattern(r"nodes\[(\d+)\]\.(\w+) is missing")
_DIFFERENT = "machines differ in it, and there is one for all"


def add_network_keys(machines: Iterable[DraftMachine], building: ConfigDraft) -> None:
    """Set cluster network keys that all machines agree on."""
    gateways: dict[str, MappingEntry] = {}
    networks: dict[str, MappingEntry] = {}
    for machine in machines:
        gateways.update(machine.gateways)
        networks.update(machine.networks)
    for path, entries in (("network.default_gateway", gateways), ("network.node_cidr", networks)):
        if len(entries) == 1:
            building.set_value(path, next(iter(entries.values())))
        else:
            for entry in entries.values():
                building.report_lost(entry.name, entry.value.at, _DIFFERENT)


def finish_conversion(
    building: ConfigDraft,
    comments: Comments,
    *,
    to_toml: bool,
    notes: tuple[str, ...] = (),
    other_comments: Mapping[str, Comments] | None = None,
) -> ConversionResult:
    """Render the files of a draft, with comments on missing values.

    `other_comments` are the comments of additional source files.
    """
    building.drop_invalid_values()
    carrier = TreeConverter(
        {**(other_comments or {}), building.tree.at.file: comments}, to_toml=to_toml
    )
    written = WrittenConfig(
        sections=carrier.convert_sections(building.tree),
        header=comments.header,
        footer=comments.footer,
    )
    carrier.report_lost_comments()
    to_fill = _find_missing(_render_files(written, to_toml=to_toml))
    return ConversionResult(
        files=_render_files(_add_missing_comments(written, to_fill), to_toml=to_toml),
        lost=sort_lost_items((*building.lost, *carrier.lost)),
        to_fill=to_fill,
        notes=notes,
    )


def _render_files(written: WrittenConfig, *, to_toml: bool) -> dict[str, str]:
    return toml_files(written) if to_toml else classic_files(written)


def _find_missing(files: dict[str, str]) -> tuple[MissingItem, ...]:
    """Return the problems that the rules report for the result."""
    loaded = load({name: text.encode() for name, text in files.items()})
    check_rules(loaded)
    return tuple(
        MissingItem(what=problem.what, fix=problem.fix) for problem in loaded.problems.errors
    )


def _add_missing_comments(
    written: WrittenConfig, to_fill: tuple[MissingItem, ...]
) -> WrittenConfig:
    """Add comments on missing values: at the top for the cluster, next to keys for a node."""
    by_node: dict[int, list[str]] = {}
    summaries = []
    for item in to_fill:
        match = _MISSING_IN_NODE.fullmatch(item.what)
        if match is None:
            summaries.append(item.what)
        else:
            by_node.setdefault(int(match[1]), []).append(match[2])
    header = written.header
    if summaries:
        header = (
            *header,
            *([""] if header else []),
            "To fill in:",
            *(f"- {summary}" for summary in summaries),
        )
    return replace(written, header=header, sections=_add_node_comments(written.sections, by_node))


def _add_node_comments(
    sections: dict[str, Commented], by_node: dict[int, list[str]]
) -> dict[str, Commented]:
    nodes = sections.get("nodes")
    if nodes is None or not isinstance(nodes.value, list):
        return sections
    items = []
    for index, item in enumerate(nodes.value):
        keys = by_node.get(index)
        items.append(_add_comment(item, keys) if keys else item)
    return {**sections, "nodes": replace(nodes, value=items)}


def _add_comment(item: Commented, keys: list[str]) -> Commented:
    """Add a comment after the first key, which TOML does not move behind a table."""
    values = dict(item.value) if isinstance(item.value, dict) else {}
    first = next(iter(values), None)
    if first is None:
        return item
    line = f"to fill in: {', '.join(keys)}"
    values[first] = replace(values[first], below=(*values[first].below, line))
    return replace(item, value=values)
