"""Keys of nodes, and classes for keys that the machines of a role share."""

from __future__ import annotations

from stockman.assessment.adoption import cluster_keys as read
from stockman.assessment.adoption.cluster import MatchedMachine, RunningCluster, RunningMachine
from stockman.assessment.adoption.hardware import Keys, hardware_keys
from stockman.talos.machine.configuration import CONTROL_PLANE
from stockman.talos.machine.v1alpha1 import NO_LOAD_BALANCING

_OWN = ("vmid", "host", "uuid", "nics", "data_disks", "description")
_SEVERAL = 2


def extract_classes(nodes: list[Keys]) -> Keys:
    """Return `nodes` and, if several machines of a role share keys, `classes`."""
    classes: Keys = {}
    left = nodes
    for name, is_controller in (("controller", True), ("worker", False)):
        members = [node for node in left if node["controller"] is is_controller]
        common = (
            _common_keys([_vm_keys(node) for node in members]) if len(members) >= _SEVERAL else {}
        )
        if common:
            classes[name] = {"vm": common}
            left = [_without(node, common) if node in members else node for node in left]
    return {"classes": classes, "nodes": left} if classes else {"nodes": left}


def _vm_keys(node: Keys) -> Keys:
    vm = node.get("vm")
    return vm if isinstance(vm, dict) else {}


def _common_keys(vms: list[Keys]) -> Keys:
    first, *remaining = vms
    return {
        key: value
        for key, value in first.items()
        if key not in _OWN and all(key in keys and keys[key] == value for keys in remaining)
    }


def _without(node: Keys, common: Keys) -> Keys:
    vm = {key: value for key, value in _vm_keys(node).items() if key not in common}
    return {**node, "vm": vm}


_SELECTOR = "machine.install.diskSelector"
_MATCH = "UnattendedInstallConfig: provisioning.diskSelector.match"
_FIELDS = {
    "size": "size",
    "model": "model",
    "serial": "serial",
    "modalias": "modalias",
    "uuid": "uuid",
    "wwid": "wwid",
    "type": "type",
    "busPath": "bus_path",
}
_OURS = (CONTROL_PLANE, NO_LOAD_BALANCING)
"""Labels and taints that stockman derives from the role."""
_USUAL_MTU = 1500
_MTUS = range(1450, 9001)


def node_keys(cluster: RunningCluster, matched: MatchedMachine, *, shares_schematic: bool) -> Keys:
    """Return one entry of `nodes:` without patches."""
    machine = matched.machine
    keys: Keys = {
        "name": machine.hostname,
        "address": str(machine.address),
        "controller": machine.is_controller,
        "mac_addr": machine.mac or (machine.macs[0] if machine.macs else ""),
        **_disk(machine),
    }
    if machine.schematic and not shares_schematic:
        keys["schematic_id"] = machine.schematic
    size = read.mtu(machine)
    if size is not None and size != _USUAL_MTU and size in _MTUS:
        keys["mtu"] = size
    if "installer-secureboot/" in _installer(machine):
        keys["secureboot"] = True
    keys |= _marks(machine)
    hardware = hardware_keys(cluster.proxmox, matched.guest, matched.config)
    keys["vm"] = {
        "vmid": int(matched.guest.vmid),
        "host": str(matched.guest.host),
        "uuid": str(machine.uuid),
        **hardware,
    }
    return keys


def _installer(machine: RunningMachine) -> str:
    return read.first_value(
        machine, "machine.install.image", "UnattendedInstallConfig: installer.image"
    )


def _disk(machine: RunningMachine) -> Keys:
    path = read.first_value(machine, "machine.install.disk")
    if path:
        return {"disk": path}
    match = read.first_value(machine, _MATCH)
    for start in ('disk.dev_path == "', 'disk.serial == "'):
        name = match.removeprefix(start).removesuffix('"')
        if match.startswith(start) and '"' not in name:
            return {"disk": name}
    if match:
        return {"disk_selector": {"match": match}}
    selector = read.mapping_values(machine, _SELECTOR)
    if list(selector) == ["serial"]:
        return {"disk": selector["serial"]}
    known = {_FIELDS[name]: text for name, text in selector.items() if name in _FIELDS}
    if known:
        return {"disk_selector": known}
    return {"disk": machine.system_disk} if machine.system_disk else {}


def _marks(machine: RunningMachine) -> Keys:
    keys: Keys = {}
    for key, old, new in (
        ("labels", "machine.nodeLabels", "KubeNodeConfig: labels"),
        ("annotations", "machine.nodeAnnotations", "KubeNodeConfig: annotations"),
        ("taints", "machine.nodeTaints", "KubeNodeConfig: taints"),
    ):
        marks = read.mapping_values(machine, old, new)
        own = {name: text for name, text in marks.items() if name not in _OURS}
        if own:
            keys[key] = own
    return keys
