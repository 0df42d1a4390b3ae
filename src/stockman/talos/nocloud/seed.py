"""The three files of a nocloud seed: user-data, meta-data and network-config."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from stockman.config.writers.yaml_writer import render_yaml
from stockman.model.desired import Node, Vm
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.nocloud.iso_format import nocloud_image
from stockman.talos.nocloud.network import Interface, NodeBond, NodeNetwork, UnsupportedSetting

_MIB_PER_GIB = 1024


def meta_data(node: Node) -> str:
    """Return the meta-data text. Only VMs have a region and zone."""
    fields = {"instance-id": instance_id(node), "local-hostname": str(node.name)}
    if node.vm is not None:
        fields |= {
            "instance-type": instance_type(node.vm),
            "provider-id": provider_id(node.vm),
            "region": str(node.vm.region),
            "zone": str(node.vm.host),
        }
    return render_yaml(fields)


def instance_id(node: Node) -> str:
    """Return an ID that stays the same for the lifetime of the machine."""
    return str(node.name) if node.vm is None else str(node.vm.uuid)


def instance_type(vm: Vm) -> str:
    """Return the size of a VM in the form of the Proxmox cloud controller."""
    return f"{vm.cores * vm.sockets}VCPU-{vm.memory // _MIB_PER_GIB}GB"


def provider_id(vm: Vm) -> str:
    return f"proxmox://{vm.region}/{vm.vmid}"


NetworkConfigVersion = Literal[1, 2]
NetworkConfigEntry = dict[str, object]


def network_config(network: NodeNetwork, form: NetworkConfigVersion) -> str:
    """Return the network-config text without `unsupported_settings`."""
    return render_yaml(_version_1(network) if form == 1 else _version_2(network))


def choose_version(network: NodeNetwork) -> NetworkConfigVersion:
    """Return version 1, which selects parents of VLANs by MAC address, or 2 if there are routes."""
    return 2 if any(interface.hops for interface in network.interfaces) else 1


def unsupported_settings(
    network: NodeNetwork, form: NetworkConfigVersion
) -> tuple[UnsupportedSetting, ...]:
    """Return the requested settings that this version cannot express."""
    return tuple(_iter_unsupported(network, form))


def _iter_unsupported(
    network: NodeNetwork, form: NetworkConfigVersion
) -> Iterator[UnsupportedSetting]:
    for interface in network.interfaces:
        if interface.bond is not None and interface.bond.unsupported:
            yield UnsupportedSetting(
                what=f"{', '.join(interface.bond.unsupported)} of {interface.name}",
                why="network-config does not support these bond options",
                needed=False,
            )
        if form == 1 and interface.hops:
            yield UnsupportedSetting(
                what=f"{len(interface.hops)} routes by {interface.name}",
                why="Talos reads only the default route in version 1",
                needed=False,
            )
    if network.search_domains:
        yield UnsupportedSetting(
            what="search domains",
            why="Talos ignores them in both versions",
            needed=False,
        )
    found_by_mac = {interface.name for interface in network.cards if interface.mac}
    for interface in network.vlans if form == 2 else ():
        if interface.parent in found_by_mac:
            yield UnsupportedSetting(
                what=f"selecting {interface.parent} below {interface.name} by its MAC address",
                why="in version 2 Talos selects the parent of a VLAN only by its name",
                needed=False,
            )


def _version_1(network: NodeNetwork) -> NetworkConfigEntry:
    entries: list[NetworkConfigEntry] = [
        _version_1_entry(interface) for interface in network.interfaces
    ]
    if network.resolvers:
        resolvers = [str(address) for address in network.resolvers]
        search: NetworkConfigEntry = (
            {"search": list(network.search_domains)} if network.search_domains else {}
        )
        entries.append({"type": "nameserver", "address": resolvers, **search})
    return {"version": 1, "config": entries}


def _version_1_entry(interface: Interface) -> NetworkConfigEntry:
    entry: NetworkConfigEntry = {"type": "physical", "name": interface.name}
    if interface.bond is not None:
        entry = {
            "type": "bond",
            "name": interface.name,
            "bond_interfaces": list(interface.bond.members),
        }
        entry["params"] = _drop_unset(
            {
                "bond-mode": interface.bond.mode,
                "bond-miimon": interface.bond.miimon,
                "bond-lacp-rate": interface.bond.lacp_rate,
                "bond-xmit-hash-policy": interface.bond.hash_policy,
                "up-delay": interface.bond.up_delay,
                "down-delay": interface.bond.down_delay,
            }
        )
    elif interface.vlan is not None:
        entry = {
            "type": "vlan",
            "name": interface.name,
            "vlan_id": interface.vlan,
            "vlan_link": interface.parent,
        }
    if interface.mac:
        entry["mac_address"] = interface.mac
    if interface.mtu is not None:
        entry["mtu"] = interface.mtu
    subnets = list(_subnets(interface))
    if subnets:
        entry["subnets"] = subnets
    return entry


def _subnets(interface: Interface) -> Iterator[NetworkConfigEntry]:
    if interface.dhcp:
        yield {"type": "dhcp4"}
    for number, address in enumerate(interface.addresses):
        subnet: NetworkConfigEntry = {"type": "static", "address": str(address)}
        if interface.gateway is not None and number == 0:
            subnet["gateway"] = str(interface.gateway)
        yield subnet


def _version_2(network: NodeNetwork) -> NetworkConfigEntry:
    config: NetworkConfigEntry = {"version": 2}
    for key, links in (
        ("ethernets", network.cards),
        ("bonds", network.bonds),
        ("vlans", network.vlans),
    ):
        if links:
            config[key] = {interface.name: _version_2_entry(interface) for interface in links}
    # Talos merges the resolvers of all links; they are written to the first with addresses.
    addressed = next(
        (interface for interface in network.interfaces if interface.addresses or interface.dhcp),
        None,
    )
    if addressed is not None and network.resolvers:
        resolvers: NetworkConfigEntry = {
            "addresses": [str(address) for address in network.resolvers]
        }
        if network.search_domains:
            resolvers["search"] = list(network.search_domains)
        for links_of in config.values():
            if isinstance(links_of, dict) and addressed.name in links_of:
                links_of[addressed.name]["nameservers"] = resolvers
    return config


def _version_2_entry(interface: Interface) -> NetworkConfigEntry:
    link: NetworkConfigEntry = {}
    if interface.mac:
        link["match"] = {"macaddress": interface.mac}
    if interface.bond is not None:
        link |= {
            "interfaces": list(interface.bond.members),
            "parameters": _bond_parameters(interface.bond),
        }
    if interface.vlan is not None:
        link |= {"id": interface.vlan, "link": interface.parent}
    if interface.mtu is not None:
        link["mtu"] = interface.mtu
    if interface.dhcp:
        link["dhcp4"] = True
    if interface.addresses:
        link["addresses"] = [str(address) for address in interface.addresses]
    routes: list[NetworkConfigEntry] = []
    if interface.gateway is not None:
        routes.append({"to": "default", "via": str(interface.gateway)})
    for hop in interface.hops:
        metric: NetworkConfigEntry = {} if hop.metric is None else {"metric": hop.metric}
        routes.append({"to": str(hop.network), "via": str(hop.gateway), **metric})
    if routes:
        link["routes"] = routes
    return link


def _bond_parameters(bond: NodeBond) -> NetworkConfigEntry:
    return _drop_unset(
        {
            "mode": bond.mode,
            "mii-monitor-interval": bond.miimon,
            "lacp-rate": bond.lacp_rate,
            "transmit-hash-policy": bond.hash_policy,
            "up-delay": bond.up_delay,
            "down-delay": bond.down_delay,
        }
    )


def _drop_unset(options: NetworkConfigEntry) -> NetworkConfigEntry:
    return {name: value for name, value in options.items() if value}


USER_DATA, META_DATA, NETWORK_CONFIG = "user-data", "meta-data", "network-config"


@record
class NocloudSeed:
    """The contents of the seed files."""

    user_data: Secret
    """The machine configuration."""
    meta_data: str
    network_config: str

    def image(self, moment: datetime) -> bytes:
        """Return an ISO image of the files; it contains all secrets of the machine unencrypted."""
        files = {
            USER_DATA: self.user_data.reveal(),
            META_DATA: self.meta_data,
            NETWORK_CONFIG: self.network_config,
        }
        return nocloud_image({name: text.encode() for name, text in files.items()}, moment)
