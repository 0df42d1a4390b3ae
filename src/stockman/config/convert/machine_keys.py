"""How other tools name what a machine has, and where that belongs here."""

from __future__ import annotations

import re
from ipaddress import IPv4Interface

from stockman.config.convert.building import Building, put_into, text_at
from stockman.config.source.tree import Entry, Mapping, Node, Scalar
from stockman.model.origin import Position

_NAMES: dict[str, tuple[str, ...]] = {
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
PATHS = {name: path for path, names in _NAMES.items() for name in names}
"""Path in a node by the name that another tool has for it."""

_ORDER = list(_NAMES)

GATEWAYS = ("gateway", "default_gateway", "gw")

_SIZE = re.compile(r"(\d+) ?(?:G|GB|Gi|GiB)")
NO_SUCH_KEY = "there is no key for it"


class Machine:
    """A node as it is put together, and what it says of the network that it is in."""

    def __init__(self, at: Position) -> None:
        self.keys = Mapping(at)
        self.gateways: dict[str, Entry] = {}
        self.networks: dict[str, Entry] = {}


def machine_of(source: Mapping, known: str, building: Building) -> Machine:
    """The machine that a mapping of another tool describes; `known` is its name there."""
    machine = Machine(source.at)
    found: list[tuple[str, Entry]] = []
    for name, entry in source.entries.items():
        named = Entry(entry.key, entry.value, name=f"{known}.{name}")
        value = entry.value
        if isinstance(value, Scalar) and value.is_null:
            continue
        if name in GATEWAYS and isinstance(value, Scalar):
            machine.gateways[value.text] = named
        elif name in PATHS:
            found.append(_placed(PATHS[name], named))
        else:
            building.lose(named.name, entry.key.at, NO_SUCH_KEY)
    for path, named in sorted(found, key=lambda pair: _ORDER.index(pair[0])):
        _put(machine, path, named)
    return machine


def _placed(path: str, entry: Entry) -> tuple[str, Entry]:
    """Where a value belongs, and how it is spelled there: `disk` may be a device or a size."""
    size = sized(entry.value) if path in ("disk", "vm.disk_gb") else None
    if size is None:
        return path, entry
    return "vm.disk_gb", Entry(entry.key, size, name=entry.name)


def _put(machine: Machine, path: str, entry: Entry) -> None:
    value = entry.value
    if path == "address" and isinstance(value, Scalar) and "/" in value.text:
        _put_interface(machine, entry, value)
    else:
        put_into(machine.keys, path, entry)


def sized(value: Node) -> Scalar | None:
    """A disk size in GiB; None for what is something else, such as a device."""
    if not isinstance(value, Scalar):
        return None
    found = _SIZE.fullmatch(value.text)
    if found is not None:
        return text_at(found[1], value)
    return value if value.text.isdecimal() else None


def _put_interface(machine: Machine, entry: Entry, value: Scalar) -> None:
    """An address with a prefix names the network too."""
    try:
        interface = IPv4Interface(value.text)
    except ValueError:
        put_into(machine.keys, "address", entry)
        return
    address = text_at(str(interface.ip), value)
    put_into(machine.keys, "address", Entry(entry.key, address, name=entry.name))
    network = text_at(str(interface.network), value)
    machine.networks[network.text] = Entry(entry.key, network, name=entry.name)
