"""`vm.yml`, a mapping of VMs as OpenTofu stacks for Proxmox keep it.

VMs named `talos_*` become nodes. Every other VM becomes a guest that is only watched: it was
made by somebody else, and nothing here says that it may be changed.
"""

from __future__ import annotations

from stockman.config.comments import comments_of_yaml
from stockman.config.convert.building import Building, text_at
from stockman.config.convert.foreign import converted, say_of_network
from stockman.config.convert.machine_keys import Machine, machine_of
from stockman.config.convert.result import Converted
from stockman.config.source.text import Unreadable, decoded
from stockman.config.source.tree import Entry, Mapping
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.problem import Problems

TALOS_PREFIX = "talos_"
_NEEDED_BY_GUESTS = ("name", "vmid", "host")
_GUEST_PATHS = {"vmid", "host"}
_NOT_OF_GUESTS = "guests do not have it"
_ONLY_WATCHED = "VMs that are not named talos_* are guests with `manage: observe`"


def is_vm_file(tree: Mapping) -> bool:
    """Whether a YAML file is a mapping of VMs."""
    values = [entry.value for entry in tree.entries.values()]
    return bool(values) and all(isinstance(value, Mapping) for value in values) and any(
        {"id", "node"} <= set(value.entries) for value in values if isinstance(value, Mapping)
    )


def vm_file_to(file: str, content: bytes, *, to_toml: bool) -> Converted:
    """The configuration that a `vm.yml` gives, as far as it goes."""
    try:
        text = decoded(file, content)
        tree = read_yaml(file, text)
    except Unreadable as unreadable:
        return Converted(problems=Problems([unreadable.problem]))
    building = Building(file)
    nodes: list[Machine] = []
    guests = 0
    for name, entry in tree.entries.items():
        if not isinstance(entry.value, Mapping):
            building.lose(name, entry.key.at, "it is not a VM")
        elif name.startswith(TALOS_PREFIX):
            nodes.append(machine_of(entry.value, name, building))
            building.append("nodes", nodes[-1].keys, entry.key)
        else:
            guests += _add_guest(name, entry, entry.value, building)
    say_of_network(nodes, building)
    return converted(
        building,
        comments_of_yaml(text, tree),
        to_toml=to_toml,
        notes=(_ONLY_WATCHED,) if guests else (),
    )


def _add_guest(name: str, entry: Entry, source: Mapping, building: Building) -> bool:
    """Whether the VM says enough of itself to be a guest, and was added."""
    machine = machine_of(source, name, building)
    guest = _as_guest(machine, building)
    missing = [key for key in _NEEDED_BY_GUESTS if key not in guest.entries]
    if missing:
        building.lose(name, entry.key.at, f"a guest needs {', '.join(missing)}")
        return False
    for gateway in machine.gateways.values():
        building.lose(gateway.name, gateway.value.at, _NOT_OF_GUESTS)
    building.append("guests", guest, entry.key)
    return True


def _as_guest(machine: Machine, building: Building) -> Mapping:
    """Keys of a node as those of a guest: id and host stand outside of `vm`."""
    guest = Mapping(machine.keys.at)
    vm = machine.keys.get("vm")
    inside = vm.entries if isinstance(vm, Mapping) else {}
    for name, entry in (*machine.keys.entries.items(), *inside.items()):
        if name in ("name", "address") or name in _GUEST_PATHS:
            guest.entries[name] = entry
    hardware = {name: entry for name, entry in inside.items() if name not in _GUEST_PATHS}
    key = next(iter(machine.keys.entries.values())).key if machine.keys.entries else None
    if key is not None:
        guest.entries["vm"] = Entry(key, Mapping(machine.keys.at, hardware))
        guest.entries["manage"] = Entry(key, text_at("observe", guest))
    for name, entry in machine.keys.entries.items():
        if name not in ("name", "address", "vm"):
            building.lose(entry.name, entry.key.at, _NOT_OF_GUESTS)
    return guest
