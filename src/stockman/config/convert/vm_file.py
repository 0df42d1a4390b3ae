"""Convert `vm.yml`, a mapping of VMs used by OpenTofu stacks for Proxmox.

VMs named `talos_*` become nodes. All other VMs become observed guests, because the file does not
say that stockman may change them.
"""

from __future__ import annotations

from stockman.config.comments import read_yaml_comments
from stockman.config.convert.draft import ConfigDraft, DraftMachine, build_machine, text_scalar
from stockman.config.convert.finish import add_network_keys, finish_conversion
from stockman.config.convert.result import ConversionResult
from stockman.config.source.text import Unreadable, decode_text
from stockman.config.source.tree import MappingEntry, MappingNode
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.problem import Problems

TALOS_PREFIX = "talos_"
_NEEDED_BY_GUESTS = ("name", "vmid", "host")
_KEYS_OF_GUESTS = ("name", "vmid", "host", "address")
_NOT_OF_GUESTS = "guests do not have it"
_ONLY_WATCHED = "VMs that are not named talos_* are guests with `manage: observe`"


def is_vm_file(tree: MappingNode) -> bool:
    """Return whether a YAML file is a mapping of VMs."""
    values = [entry.value for entry in tree.entries.values()]
    return (
        bool(values)
        and all(isinstance(value, MappingNode) for value in values)
        and any(
            {"id", "node"} <= set(value.entries)
            for value in values
            if isinstance(value, MappingNode)
        )
    )


def convert_vm_file(file: str, content: bytes, *, to_toml: bool) -> ConversionResult:
    """Convert a `vm.yml`, as far as possible."""
    try:
        text = decode_text(file, content)
        tree = read_yaml(file, text)
    except Unreadable as unreadable:
        return ConversionResult(problems=Problems([unreadable.problem]))
    comments = read_yaml_comments(text, tree)
    building = ConfigDraft(file)
    nodes: list[DraftMachine] = []
    for name, entry in tree.entries.items():
        if not isinstance(entry.value, MappingNode):
            building.report_lost(name, entry.key.at, "it is not a VM")
            continue
        machine = build_machine(entry.value, name, building)
        if name.startswith(TALOS_PREFIX):
            nodes.append(machine)
            building.append("nodes", machine.keys, entry.key)
        elif not _add_guest(name, entry, machine, building):
            continue
        comments.move_to_item(entry.key.at, machine.keys.at)
    add_network_keys(nodes, building)
    notes = (_ONLY_WATCHED,) if "guests" in building.tree.entries else ()
    return finish_conversion(building, comments, to_toml=to_toml, notes=notes)


def _add_guest(
    name: str, entry: MappingEntry, machine: DraftMachine, building: ConfigDraft
) -> bool:
    """Add a VM as guest if it has the required keys; return whether it was added."""
    keys = dict(machine.keys.entries)
    vm = keys.pop("vm", None)
    hardware = dict(vm.value.entries) if vm and isinstance(vm.value, MappingNode) else {}
    keys |= {key: hardware.pop(key) for key in ("vmid", "host") if key in hardware}
    missing = [key for key in _NEEDED_BY_GUESTS if key not in keys]
    if missing:
        building.report_lost(name, entry.key.at, f"a guest needs {', '.join(missing)}")
        return False
    own = {key: keys[key] for key in _KEYS_OF_GUESTS if key in keys}
    for stray in (*(keys[key] for key in keys if key not in own), *machine.gateways.values()):
        building.report_lost(stray.name, stray.value.at, _NOT_OF_GUESTS)
    own["manage"] = MappingEntry(entry.key, text_scalar("observe", entry.value))
    own["vm"] = MappingEntry(entry.key, MappingNode(entry.value.at, hardware))
    building.append("guests", MappingNode(machine.keys.at, own), entry.key)
    return True
