"""Hosts, storage, bridge and VLAN of the nodes of a preset, and how answers replace them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman.config.source.tree import (
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    iter_scalars,
)
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.writers.yaml_writer import format_scalar
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem
from stockman.model.record import record

UNTAGGED = "none"
"""Answer for nodes without a VLAN tag."""


@record
class MachinePlaces:
    """Where the nodes of a preset run. Empty: the preset has no nodes."""

    hosts: tuple[str, ...] = ()
    storage: str = ""
    bridge: str = ""
    vlan: str = ""


def read_places(nodes: str) -> MachinePlaces:
    """Return where the nodes in a `nodes.yaml` run."""
    tree = read_yaml("nodes.yaml", nodes)
    machines = list(_machines(tree))
    hosts = [text for vm in machines if (text := _text(vm.get("host")))]
    cards = [card for vm in machines if (card := _card(vm)) is not None]
    storages = [text for vm in machines if (text := _text(vm.get("datastore")))]
    if not hosts or not cards or not storages:
        return MachinePlaces()
    return MachinePlaces(
        hosts=tuple(dict.fromkeys(hosts)),
        storage=storages[0],
        bridge=_text(cards[0].get("bridge")),
        vlan=_text(cards[0].get("vlan_id")) or UNTAGGED,
    )


def replace_places(texts: Mapping[str, str], new: MachinePlaces) -> dict[str, str]:
    """Return the files with other hosts, storage, bridge and VLAN. Empty values change nothing.

    Raises `WrongUsage` for another number of hosts.
    """
    old = read_places(texts["nodes.yaml"])
    if new.hosts and len(new.hosts) != len(old.hosts):
        raise WrongUsage(_wrong_number(len(old.hosts), new.hosts))
    names = dict(zip(old.hosts, new.hosts or old.hosts, strict=True))
    names |= {old.storage: new.storage or old.storage, old.bridge: new.bridge or old.bridge}
    changed = {file: _rename(file, text, names) for file, text in texts.items()}
    if new.vlan and new.vlan != old.vlan:
        changed["nodes.yaml"] = _set_vlan(changed["nodes.yaml"], new.vlan)
    return changed


def _machines(tree: MappingNode) -> Iterator[MappingNode]:
    """Yield the VMs of classes and nodes, in order."""
    classes, nodes = tree.get("classes"), tree.get("nodes")
    sections: list[TreeNode] = []
    if isinstance(classes, MappingNode):
        sections += [entry.value for entry in classes.entries.values()]
    if isinstance(nodes, SequenceNode):
        sections += nodes.items
    for section in sections:
        vm = section.get("vm") if isinstance(section, MappingNode) else None
        if isinstance(vm, MappingNode):
            yield vm


def _card(vm: MappingNode) -> MappingNode | None:
    """Return the mapping with the bridge of the first card. None: another section has it."""
    if vm.get("bridge") is not None:
        return vm
    cards = vm.get("nics")
    first = cards.items[0] if isinstance(cards, SequenceNode) and cards.items else None
    return first if isinstance(first, MappingNode) else None


def _text(node: TreeNode | None) -> str:
    return node.text if isinstance(node, ScalarNode) else ""


def _rename(file: str, text: str, names: Mapping[str, str]) -> str:
    pieces, end = [], 0
    spans = {
        scalar.span: names[scalar.text]
        for scalar in iter_scalars(read_yaml(file, text), keys=True)
        if names.get(scalar.text, scalar.text) != scalar.text
    }
    for (start, stop), name in sorted(spans.items()):
        pieces += [text[end:start], format_scalar(name)]
        end = stop
    return "".join([*pieces, text[end:]])


def _set_vlan(text: str, vlan: str) -> str:
    """Set or remove the tag of the first card of every node, from the end to the start."""
    cards = [card for vm in _machines(read_yaml("nodes.yaml", text)) if (card := _card(vm))]
    for card in reversed(cards):
        bridge, tag = card.get("bridge"), card.get("vlan_id")
        if isinstance(tag, ScalarNode):
            start, stop = tag.span
            if vlan != UNTAGGED:
                text = text[:start] + vlan + text[stop:]
            else:
                text = text[: text.rindex("\n", 0, start)] + text[stop:]
        elif isinstance(bridge, ScalarNode) and vlan != UNTAGGED:
            stop = bridge.span[1]
            line = text[text.rindex("\n", 0, stop) + 1 : stop]
            indent = line[: len(line) - len(line.lstrip())]
            is_block = line.lstrip().startswith("bridge:")
            added = f"\n{indent}vlan_id: {vlan}" if is_block else f", vlan_id: {vlan}"
            text = text[:stop] + added + text[stop:]
    return text


def _wrong_number(expected: int, hosts: tuple[str, ...]) -> Problem:
    return Problem(
        code="cli.usage",
        what=f"{len(hosts)} host names are given",
        where="--hosts",
        why=f"the preset has {expected} hosts",
        fix=f"give {expected} names, separated by commas",
    )
