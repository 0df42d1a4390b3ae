"""Keys of one node, as its machine and its VM have them."""

from __future__ import annotations

from stockman.app.adopting import reading as read
from stockman.app.adopting.hardware import Keys, hardware_of
from stockman.app.adopting.sight import Matched, SeenMachine, Sight
from stockman.talos.machine.documents_114 import CONTROL_PLANE
from stockman.talos.machine.v1alpha1 import NO_LOAD_BALANCING

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
"""Labels and taints that follow from the role."""
_USUAL_MTU = 1500
_MTUS = range(1450, 9001)


def node_keys(sight: Sight, one: Matched, *, shares_schematic: bool) -> Keys:
    """One entry of `nodes:`, without patches."""
    machine = one.machine
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
    hardware = hardware_of(sight.proxmox, one.guest, one.config)
    keys["vm"] = {
        "vmid": int(one.guest.vmid),
        "host": str(one.guest.host),
        "uuid": str(machine.uuid),
        **hardware,
    }
    return keys


def _installer(machine: SeenMachine) -> str:
    return read.value(machine, "machine.install.image", "UnattendedInstallConfig: installer.image")


def _disk(machine: SeenMachine) -> Keys:
    path = read.value(machine, "machine.install.disk")
    if path:
        return {"disk": path}
    match = read.value(machine, _MATCH)
    for start in ('disk.dev_path == "', 'disk.serial == "'):
        name = match.removeprefix(start).removesuffix('"')
        if match.startswith(start) and '"' not in name:
            return {"disk": name}
    if match:
        return {"disk_selector": {"match": match}}
    selector = read.mapped(machine, _SELECTOR)
    if list(selector) == ["serial"]:
        return {"disk": selector["serial"]}
    known = {_FIELDS[name]: text for name, text in selector.items() if name in _FIELDS}
    if known:
        return {"disk_selector": known}
    return {"disk": machine.system_disk} if machine.system_disk else {}


def _marks(machine: SeenMachine) -> Keys:
    found: Keys = {}
    for key, old, new in (
        ("labels", "machine.nodeLabels", "KubeNodeConfig: labels"),
        ("annotations", "machine.nodeAnnotations", "KubeNodeConfig: annotations"),
        ("taints", "machine.nodeTaints", "KubeNodeConfig: taints"),
    ):
        marks = read.mapped(machine, old, new)
        own = {name: text for name, text in marks.items() if name not in _OURS}
        if own:
            found[key] = own
    return found
