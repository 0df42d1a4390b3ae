"""Nodes in the variables of a Terraform stack: maps or lists of objects with addresses."""

from __future__ import annotations

from stockman.config.convert.building import Building, text_at
from stockman.config.convert.machine_keys import GATEWAYS, PATHS, Machine, machine_of
from stockman.config.convert.terraform_names import says_controller
from stockman.config.source.tree import Entry, Mapping, Node, Scalar, Sequence

_FLAGS = ("controller", "is_controller", "controlplane", "is_controlplane", "control_plane")
_ROLES = ("role", "type", "node_type", "machine_type")
_TELLING = ("address", "mac_addr", "vm.vmid")
"""Paths of which an object has at least one if it is a machine."""


def are_nodes(value: Node) -> bool:
    """Whether a value is a collection of machines, be it by role."""
    inner = _objects(value)
    return bool(inner) and all(_is_machine(one) or are_nodes(one) for one in inner)


def add_nodes(entry: Entry, building: Building) -> list[Machine]:
    """Add the machines of a variable as nodes."""
    return _added(entry.name, entry.value, says_controller(entry.name.lower()), building)


def _added(name: str, value: Node, controller: str | None, building: Building) -> list[Machine]:
    machines: list[Machine] = []
    if isinstance(value, Sequence):
        for index, item in enumerate(value.items):
            if isinstance(item, Mapping):
                machines.append(_node(f"{name}[{index}]", item, None, controller, building))
        return machines
    entries = value.entries.items() if isinstance(value, Mapping) else ()
    for key, entry in entries:
        inner = f"{name}.{key}"
        if not _is_machine(entry.value):
            role = says_controller(key.lower()) or controller
            machines += _added(inner, entry.value, role, building)
        elif isinstance(entry.value, Mapping):
            machines.append(_node(inner, entry.value, entry.key, controller, building))
    return machines


def _node(
    known: str, source: Mapping, key: Scalar | None, controller: str | None, building: Building
) -> Machine:
    role = _role_entry(known, source)
    rest = {name: entry for name, entry in source.entries.items() if name not in (*_FLAGS, *_ROLES)}
    machine = machine_of(Mapping(source.at, rest), known, building)
    keys = machine.keys.entries
    named = keys.pop("name", None)
    if named is None and key is not None:
        named = Entry(key, text_at(key.text, key), name=known)
    if role is None and controller is not None:
        where = key or Scalar(controller, source.at, plain=True, span=(0, 0))
        role = Entry(where, text_at(controller, where), name=known)
    address = keys.pop("address", None)
    ordered = {"name": named, "address": address, "controller": role}
    machine.keys.entries = {
        **{name: entry for name, entry in ordered.items() if entry is not None},
        **keys,
    }
    building.append("nodes", machine.keys, next(iter(source.entries.values())).key)
    return machine


def _role_entry(known: str, source: Mapping) -> Entry | None:
    for name in (*_FLAGS, *_ROLES):
        entry = source.entries.get(name)
        if entry is None or not isinstance(entry.value, Scalar) or entry.value.is_null:
            continue
        text = entry.value.text
        said = text if name in _FLAGS else says_controller(text.lower())
        if said is not None:
            return Entry(entry.key, text_at(said, entry.value), name=f"{known}.{name}")
    return None


def _objects(value: Node) -> list[Node]:
    if isinstance(value, Mapping):
        return [entry.value for entry in value.entries.values()]
    return list(value.items) if isinstance(value, Sequence) else []


def _is_machine(value: Node) -> bool:
    if not isinstance(value, Mapping):
        return False
    paths = {PATHS.get(name) for name in value.entries if name not in GATEWAYS}
    return any(path in paths for path in _TELLING)
