"""Node classes: merges the keys of classes into nodes."""

from __future__ import annotations

from stockman.config.language import ClassSection
from stockman.config.nearest import nearest_name
from stockman.config.record_reader import ReadContext, read_record
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    join_lists,
    mark_origin,
    merge_mappings,
)
from stockman.model.origin import Position


def apply_classes(tree: MappingNode, reading: ReadContext) -> None:
    """Merge the keys of its classes into every node of the tree; the node's own keys win."""
    classes = tree.get("classes")
    chains = _ClassChains(
        classes if isinstance(classes, MappingNode) else MappingNode(tree.at), reading
    )
    nodes = tree.entries.get("nodes")
    if nodes is None or not isinstance(nodes.value, SequenceNode):
        return
    items = [
        _merge_classes(item, chains) if isinstance(item, MappingNode) else item
        for item in nodes.value.items
    ]
    tree.entries["nodes"] = MappingEntry(nodes.key, SequenceNode(nodes.value.at, items))


def _merge_classes(node: MappingNode, chains: _ClassChains) -> MappingNode:
    named = node.get("class")
    if isinstance(named, ScalarNode) and not named.is_null:
        inherited = chains.find(named.text, named.at)
    else:
        inherited = chains.find_for_role(node.get("controller"))
    return (
        node
        if inherited is None
        else _merge_patches(inherited, node, merge_mappings(inherited, node))
    )


def _merge_patches(lower: MappingNode, upper: MappingNode, both: MappingNode) -> MappingNode:
    """Return the merged mapping with the patches of both mappings, which are appended."""
    sections = [mapping.get("talos") for mapping in (lower, upper)]
    first, second = (
        section.entries.get("patches") if isinstance(section, MappingNode) else None
        for section in sections
    )
    talos = both.get("talos")
    if first is not None and second is not None and isinstance(talos, MappingNode):
        talos.entries["patches"] = join_lists(first, second)
    return both


class _ClassChains:
    """Keys of each class, merged with the classes that it extends."""

    def __init__(self, classes: MappingNode, reading: ReadContext) -> None:
        self._classes = classes
        self._reading = reading
        self._known: dict[str, MappingNode | None] = {}
        self._cycles: set[frozenset[str]] = set()
        for name, entry in classes.entries.items():
            self._check_form(name, entry)
        for name, entry in classes.entries.items():
            self.find(name, entry.key.at)

    def find_for_role(self, controller: object) -> MappingNode | None:
        """Return the class for nodes of a role that name no class; None: there is none."""
        if not isinstance(controller, ScalarNode):
            return None
        role = {"true": "controller", "false": "worker"}.get(controller.text.lower(), "")
        return self.find(role, controller.at) if role in self._classes.entries else None

    def find(self, name: str, at: Position) -> MappingNode | None:
        """Return the merged keys of a class; None: unknown or cyclic, which is reported."""
        if name not in self._known:
            self._known[name] = self._chain(name, at, ())
        elif name not in self._classes.entries:
            self._unknown(name, at)
        return self._known[name]

    def _chain(self, name: str, at: Position, below: tuple[str, ...]) -> MappingNode | None:
        entry = self._classes.entries.get(name)
        if entry is None:
            self._unknown(name, at)
            return None
        if name in below:
            self._cycle((*below, name), at)
            return None
        if not isinstance(entry.value, MappingNode):
            return None
        own = mark_origin(entry.value, f"class {name}", f"classes.{name}")
        extends = own.entries.pop("extends", None)
        if extends is None or not isinstance(extends.value, ScalarNode) or extends.value.is_null:
            return own
        base = self._chain(extends.value.text, extends.value.at, (*below, name))
        return own if base is None else _merge_patches(base, own, merge_mappings(base, own))

    def _check_form(self, name: str, entry: MappingEntry) -> None:
        if isinstance(entry.value, MappingNode):
            self._reading.partial = True
            read_record(ClassSection, entry.value, self._reading, f"classes.{name}")
            self._reading.partial = False

    def _unknown(self, name: str, at: Position) -> None:
        near = nearest_name(name, self._classes.entries)
        known = ", ".join(self._classes.entries) or "none"
        self._reading.problems.error(
            "class.unknown",
            f"there is no class {name}",
            why=f"the classes are: {known}",
            fix=f"write {near}" if near else f"define it under `classes:`, or remove {name!r}",
            at=at,
        )

    def _cycle(self, names: tuple[str, ...], at: Position) -> None:
        members = names[names.index(names[-1]) :]
        if frozenset(members) in self._cycles:
            return
        self._cycles.add(frozenset(members))
        self._reading.problems.error(
            "class.cycle",
            f"class {names[-1]} extends itself",
            why=f"the chain is {' -> '.join(members)}",
            fix="remove one `extends:` of the chain",
            at=at,
        )
