"""The last steps of every conversion from files of other tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from stockman.config.comments import Comments
from stockman.config.convert.building import Building
from stockman.config.convert.carry import Carrier
from stockman.config.convert.into_classic import classic_files
from stockman.config.convert.into_toml import toml_files
from stockman.config.convert.machine_keys import Machine
from stockman.config.convert.result import Converted, ToFill, in_order
from stockman.config.convert.written import Written
from stockman.config.load import load
from stockman.config.noted import Noted
from stockman.config.rules import check
from stockman.config.source.tree import Entry

NO_COMMENTS = Comments([], [], [], [])
_MISSING_IN_NODE = re.compile(r"nodes\[(\d+)\]\.(\w+) is missing")
_DIFFERENT = "machines differ in it, and there is one for all"


def say_of_network(machines: Iterable[Machine], building: Building) -> None:
    """Give the cluster what all machines say of the network that they are in."""
    gateways: dict[str, Entry] = {}
    networks: dict[str, Entry] = {}
    for machine in machines:
        gateways.update(machine.gateways)
        networks.update(machine.networks)
    for path, found in (("network.default_gateway", gateways), ("network.node_cidr", networks)):
        if len(found) == 1:
            building.put(path, next(iter(found.values())))
        else:
            for entry in found.values():
                building.lose(entry.name, entry.value.at, _DIFFERENT)


def converted(
    building: Building,
    comments: Comments,
    *,
    to_toml: bool,
    notes: tuple[str, ...] = (),
    others: Mapping[str, Comments] | None = None,
) -> Converted:
    """The files of what was put together, with comments on what has to be filled in.

    `others`: the comments of further files that values come from.
    """
    building.drop_what_does_not_fit()
    carrier = Carrier({**(others or {}), building.whole.at.file: comments}, to_toml=to_toml)
    written = Written(
        sections=carrier.sections(building.whole),
        header=comments.header,
        footer=comments.footer,
    )
    carrier.lose_the_rest()
    to_fill = _to_fill(_files(written, to_toml=to_toml))
    return Converted(
        files=_files(_with_gaps_named(written, to_fill), to_toml=to_toml),
        lost=in_order((*building.lost, *carrier.lost)),
        to_fill=to_fill,
        notes=notes,
    )


def _files(written: Written, *, to_toml: bool) -> dict[str, str]:
    return toml_files(written) if to_toml else classic_files(written)


def _to_fill(files: dict[str, str]) -> tuple[ToFill, ...]:
    """What the rules ask for once the result is read."""
    loaded = load({name: text.encode() for name, text in files.items()})
    check(loaded)
    return tuple(ToFill(what=one.what, fix=one.fix) for one in loaded.problems.errors)


def _with_gaps_named(written: Written, to_fill: tuple[ToFill, ...]) -> Written:
    """The same with comments: on top for the cluster, below its keys for a node."""
    by_node: dict[int, list[str]] = {}
    others = []
    for one in to_fill:
        found = _MISSING_IN_NODE.fullmatch(one.what)
        if found is None:
            others.append(one.what)
        else:
            by_node.setdefault(int(found[1]), []).append(found[2])
    header = written.header
    if others:
        header = (
            *header,
            *([""] if header else []),
            "To fill in:",
            *(f"- {one}" for one in others),
        )
    return replace(written, header=header, sections=_with_node_gaps(written.sections, by_node))


def _with_node_gaps(sections: dict[str, Noted], by_node: dict[int, list[str]]) -> dict[str, Noted]:
    nodes = sections.get("nodes")
    if nodes is None or not isinstance(nodes.value, list):
        return sections
    items = []
    for index, item in enumerate(nodes.value):
        keys = by_node.get(index)
        items.append(_with_gap(item, keys) if keys else item)
    return {**sections, "nodes": replace(nodes, value=items)}


def _with_gap(item: Noted, keys: list[str]) -> Noted:
    """A comment after the first key, which TOML does not move behind a table."""
    values = dict(item.value) if isinstance(item.value, dict) else {}
    first = next(iter(values), None)
    if first is None:
        return item
    line = f"to fill in: {', '.join(keys)}"
    values[first] = replace(values[first], below=(*values[first].below, line))
    return replace(item, value=values)
