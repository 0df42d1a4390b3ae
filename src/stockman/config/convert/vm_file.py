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
_KEYS_OF_GUESTS = ("name", "vmid", "host", "address")
_NOT_OF_GUESTS = "guests do not have it"
_ONLY_WATCHED = "VMs that are not named talos_* are guests with `manage: observe`"


def is_vm_file(tree: Mapping) -> bool:
    """Whether a YAML file is a mapping of VMs."""
    values = [entry.value for entry in tree.entries.values()]
    return (
        bool(values)
        and all(isinstance(value, Mapping) for value in values)
        and any(
            {"id", "node"} <= set(value.entries) for value in values if isinstance(value, Mapping)
        )
    )


def vm_file_to(file: str, content: bytes, *, to_toml: bool) -> Converted:
    """The configuration that a `vm.yml` gives, as far as it goes."""
    try:
        text = decoded(file, content)
        tree = read_yaml(file, text)
    except Unreadable as unreadable:
        return Converted(problems=Problems([unreadable.problem]))
    comments = comments_of_yaml(text, tree)
    building = Building(file)
    nodes: list[Machine] = []
    for name, entry in tree.entries.items():
        if not isinstance(entry.value, Mapping):
            building.lose(name, entry.key.at, "it is not a VM")
            continue
        machine = machine_of(entry.value, name, building)
        if name.startswith(TALOS_PREFIX):
            nodes.append(machine)
            building.append("nodes", machine.keys, entry.key)
        elif not _add_guest(name, entry, machine, building):
            continue
        comments.give_to_item(entry.key.at, machine.keys.at)
    say_of_network(nodes, building)
    notes = (_ONLY_WATCHED,) if "guests" in building.whole.entries else ()
    return converted(building, comments, to_toml=to_toml, notes=notes)


def _add_guest(name: str, entry: Entry, machine: Machine, building: Building) -> bool:
    """Whether the VM says enough of itself to be a guest, and was added."""
    keys = dict(machine.keys.entries)
    vm = keys.pop("vm", None)
    hardware = dict(vm.value.entries) if vm and isinstance(vm.value, Mapping) else {}
    keys |= {key: hardware.pop(key) for key in ("vmid", "host") if key in hardware}
    missing = [key for key in _NEEDED_BY_GUESTS if key not in keys]
    if missing:
        building.lose(name, entry.key.at, f"a guest needs {', '.join(missing)}")
        return False
    own = {key: keys[key] for key in _KEYS_OF_GUESTS if key in keys}
    for stray in (*(keys[key] for key in keys if key not in own), *machine.gateways.values()):
        building.lose(stray.name, stray.value.at, _NOT_OF_GUESTS)
    own["manage"] = Entry(entry.key, text_at("observe", entry.value))
    own["vm"] = Entry(entry.key, Mapping(entry.value.at, hardware))
    building.append("guests", Mapping(machine.keys.at, own), entry.key)
    return True
