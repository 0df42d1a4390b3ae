"""A configuration built from values of another tool's file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from ipaddress import IPv4Interface

from stockman.config.comments import Comments
from stockman.config.convert.output import (
    INVALID_VALUE,
    ConversionResult,
    LostItem,
    MissingItem,
    WrittenConfig,
    classic_files,
    sort_lost_items,
    toml_files,
)
from stockman.config.convert.tree_converter import TreeConverter
from stockman.config.language import Configuration
from stockman.config.load import load
from stockman.config.node_classes import apply_classes
from stockman.config.record_reader import ReadContext, read_record
from stockman.config.rules import check_rules
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
)
from stockman.config.writers.yaml_writer import Commented
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problems


class ConfigDraft:
    """A partial configuration, and values that could not be converted."""

    def __init__(self, file: str) -> None:
        self.tree = MappingNode(Position(file, 1, 1))
        self.lost: list[LostItem] = []
        self.placeholders: frozenset[Position] = frozenset()
        """Positions that contain no value; such items are omitted from lists."""

    def set_value(self, path: str, entry: MappingEntry) -> None:
        """Set a value at a path; the name of the entry is its name in the other tool."""
        put_value(self.tree, path, entry)

    def append(self, section: str, item: MappingNode, key: ScalarNode) -> None:
        """Append an item to a list of machines."""
        known = self.tree.entries.get(section)
        if known is None:
            known = MappingEntry(key, SequenceNode(item.at))
            self.tree.entries[section] = known
        if isinstance(known.value, SequenceNode):
            known.value.items.append(item)

    def report_lost(self, key: str, at: Position, reason: str) -> None:
        """Record a value that could not be converted."""
        self.lost.append(LostItem(key=key, at=at, reason=reason))

    def drop_invalid_values(self) -> None:
        """Remove values that their keys do not accept, and record them."""
        problems = Problems()
        originals: list[TreeNode] = []
        tree = _numbered_mapping(self.tree, originals)
        reading = ReadContext(problems)
        apply_classes(tree, reading)
        read_record(Configuration, tree, reading)
        invalid = {
            id(originals[error.where.line])
            for error in problems.errors
            if error.code != "config.missing-key" and isinstance(error.where, Position)
        }
        for mapping, name, entry in list(_leaves(self.tree)):
            known = entry.name or name
            if id(entry.value) in invalid:
                del mapping.entries[name]
                self.report_lost(known, entry.value.at, INVALID_VALUE)
            elif isinstance(entry.value, SequenceNode):
                self._drop_items(entry.value, known, invalid)

    def _drop_items(self, sequence: SequenceNode, known: str, invalid: AbstractSet[int]) -> None:
        kept = []
        for index, item in enumerate(sequence.items):
            if item.at in self.placeholders:
                continue
            if id(item) in invalid:
                self.report_lost(f"{known}[{index}]", item.at, INVALID_VALUE)
            else:
                kept.append(item)
        sequence.items = kept


def _numbered_mapping(node: MappingNode, originals: list[TreeNode]) -> MappingNode:
    """Copy a tree with a position of its own for each value: the line is its number.

    Converted values share positions, so that these do not tell which value is invalid.
    """
    at = Position(node.at.file, len(originals), 1)
    originals.append(node)
    entries = {}
    for name, entry in node.entries.items():
        value = _numbered_node(entry.value, originals)
        key = ScalarNode(entry.key.text, value.at, plain=entry.key.plain, span=(0, 0))
        entries[name] = MappingEntry(key, value, name=entry.name)
    return MappingNode(at, entries)


def _numbered_node(node: TreeNode, originals: list[TreeNode]) -> TreeNode:
    if isinstance(node, MappingNode):
        return _numbered_mapping(node, originals)
    at = Position(node.at.file, len(originals), 1)
    originals.append(node)
    if isinstance(node, SequenceNode):
        return SequenceNode(at, [_numbered_node(item, originals) for item in node.items])
    return ScalarNode(node.text, at, plain=node.plain, span=node.span)


def put_value(mapping: MappingNode, path: str, entry: MappingEntry) -> None:
    """Set a value at a path unless it is already set."""
    *outer, last = path.split(".")
    for step in outer:
        known = mapping.entries.get(step)
        if known is None:
            known = MappingEntry(entry.key, MappingNode(entry.value.at))
            mapping.entries[step] = known
        if not isinstance(known.value, MappingNode):
            return
        mapping = known.value
    mapping.entries.setdefault(last, entry)


def text_scalar(text: str, node: TreeNode) -> ScalarNode:
    """Return a scalar with a converted text at the position of the original."""
    span = node.span if isinstance(node, ScalarNode) else (0, 0)
    return ScalarNode(text, node.at, plain=False, span=span)


def _leaves(node: TreeNode) -> Iterator[tuple[MappingNode, str, MappingEntry]]:
    if isinstance(node, MappingNode):
        for name, entry in node.entries.items():
            if isinstance(entry.value, ScalarNode) or _holds_values(entry.value):
                yield node, name, entry
            else:
                yield from _leaves(entry.value)
    elif isinstance(node, SequenceNode):
        for item in node.items:
            yield from _leaves(item)


def _holds_values(node: TreeNode) -> bool:
    return isinstance(node, SequenceNode) and all(
        isinstance(item, ScalarNode) for item in node.items
    )


_MACHINE_KEY_NAMES: dict[str, tuple[str, ...]] = {
    "name": ("name", "hostname"),
    "address": ("address", "ip", "ip_address", "ipv4", "ipv4_address"),
    "mac_addr": ("mac_addr", "mac", "mac_address", "macaddr"),
    "disk": ("disk", "install_disk"),
    "schematic_id": ("schematic_id", "schematic"),
    "mtu": ("mtu",),
    "vm.vmid": ("id", "vmid", "vm_id"),
    "vm.host": (
        "node",
        "host",
        "host_node",
        "node_name",
        "proxmox_node",
        "pve_node",
        "target_node",
    ),
    "vm.cores": ("cores", "cpu", "cpus", "cpu_cores", "vcpus"),
    "vm.sockets": ("sockets",),
    "vm.memory": ("memory", "memory_mb", "memory_mib", "ram", "ram_dedicated"),
    "vm.cpu_type": ("cpu_type",),
    "vm.disk_gb": ("disk_gb", "disk_size", "disk_size_gb", "os_disk_size"),
    "vm.datastore": ("datastore", "datastore_id", "storage"),
    "vm.bridge": ("bridge", "network_bridge"),
    "vm.vlan_id": ("vlan_id", "vlan", "vlan_tag"),
    "vm.tags": ("tags",),
}
MACHINE_PATHS = {name: path for path, names in _MACHINE_KEY_NAMES.items() for name in names}
"""Path in a node by its name in other tools."""

_MACHINE_KEY_ORDER = list(_MACHINE_KEY_NAMES)

GATEWAYS = ("gateway", "default_gateway", "gw")

_SIZE = pattern(r"(\d+) ?(?:G|GB|Gi|GiB)")
NO_SUCH_KEY = "there is no key for it"


class DraftMachine:
    """A node under construction, and the network settings that it contains."""

    def __init__(self, at: Position) -> None:
        self.keys = MappingNode(at)
        self.gateways: dict[str, MappingEntry] = {}
        self.networks: dict[str, MappingEntry] = {}


def build_machine(source: MappingNode, known: str, building: ConfigDraft) -> DraftMachine:
    """Build a machine from a mapping of another tool; `known` is its name there."""
    machine = DraftMachine(source.at)
    entries: list[tuple[str, MappingEntry]] = []
    for name, entry in source.entries.items():
        named = MappingEntry(entry.key, entry.value, name=f"{known}.{name}")
        value = entry.value
        if isinstance(value, ScalarNode) and value.is_null:
            continue
        if name in GATEWAYS and isinstance(value, ScalarNode):
            machine.gateways[value.text] = named
        elif name in MACHINE_PATHS:
            entries.append(_target_path(MACHINE_PATHS[name], named))
        else:
            building.report_lost(named.name, entry.key.at, NO_SUCH_KEY)
    for path, named in sorted(entries, key=lambda pair: _MACHINE_KEY_ORDER.index(pair[0])):
        _put_key(machine, path, named)
    return machine


def _target_path(path: str, entry: MappingEntry) -> tuple[str, MappingEntry]:
    """Return the path and spelling of a value: `disk` can be a device or a size."""
    size = disk_size(entry.value) if path in ("disk", "vm.disk_gb") else None
    if size is None:
        return path, entry
    return "vm.disk_gb", MappingEntry(entry.key, size, name=entry.name)


def _put_key(machine: DraftMachine, path: str, entry: MappingEntry) -> None:
    value = entry.value
    if path == "address" and isinstance(value, ScalarNode) and "/" in value.text:
        _put_interface(machine, entry, value)
    else:
        put_value(machine.keys, path, entry)


def disk_size(value: TreeNode) -> ScalarNode | None:
    """Return a disk size in GiB; None: the value is not a size, for example a device."""
    if not isinstance(value, ScalarNode):
        return None
    match = _SIZE.fullmatch(value.text)
    if match is not None:
        return text_scalar(match[1], value)
    return value if value.text.isdecimal() else None


def _put_interface(machine: DraftMachine, entry: MappingEntry, value: ScalarNode) -> None:
    """Set an address, and the network if it has a prefix length."""
    try:
        interface = IPv4Interface(value.text)
    except ValueError:
        put_value(machine.keys, "address", entry)
        return
    address = text_scalar(str(interface.ip), value)
    put_value(machine.keys, "address", MappingEntry(entry.key, address, name=entry.name))
    network = text_scalar(str(interface.network), value)
    machine.networks[network.text] = MappingEntry(entry.key, network, name=entry.name)


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
