"""`meta-data`: which machine this is, and where; cloud controllers read it through Talos."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from stockman.config.writers.yaml_writer import render_yaml
from stockman.model.desired import Node, Vm
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.nocloud.iso_writer import nocloud_image
from stockman.talos.nocloud.network import Interface, NodeBond, NodeNetwork, UnsupportedSetting

_MIB_PER_GIB = 1024


def meta_data(node: Node) -> str:
    """The text of the file. Places are said of VMs alone: only theirs are known."""
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
    """What stays the same as long as the machine is the same."""
    return str(node.name) if node.vm is None else str(node.vm.uuid)


def instance_type(vm: Vm) -> str:
    """Size of a VM as the cloud controller of Proxmox writes it."""
    return f"{vm.cores * vm.sockets}VCPU-{vm.memory // _MIB_PER_GIB}GB"


def provider_id(vm: Vm) -> str:
    return f"proxmox://{vm.region}/{vm.vmid}"


NetworkConfigVersion = Literal[1, 2]
NetworkConfigEntry = dict[str, object]


def network_config(network: NodeNetwork, form: NetworkConfigVersion) -> str:
    """The text of the file; what the form cannot say is left out, see `unsaid`."""
    return render_yaml(_version_1(network) if form == 1 else _version_2(network))


def choose_version(network: NodeNetwork) -> NetworkConfigVersion:
    """Version 1, which finds links below VLANs by their MAC addresses; 2 where there are routes."""
    return 2 if any(one.hops for one in network.interfaces) else 1


def unsupported_settings(
    network: NodeNetwork, form: NetworkConfigVersion
) -> tuple[UnsupportedSetting, ...]:
    """What was wished and has no words in this version."""
    return tuple(_iter_unsupported(network, form))


def _iter_unsupported(
    network: NodeNetwork, form: NetworkConfigVersion
) -> Iterator[UnsupportedSetting]:
    for one in network.interfaces:
        if one.bond is not None and one.bond.others:
            yield UnsupportedSetting(
                what=f"{', '.join(one.bond.others)} of {one.name}",
                why="network-config has no such options of bonds",
                needed=False,
            )
        if form == 1 and one.hops:
            yield UnsupportedSetting(
                what=f"{len(one.hops)} routes by {one.name}",
                why="Talos reads no routes in version 1 but the default one",
                needed=False,
            )
    if network.search_domains:
        yield UnsupportedSetting(
            what="search domains",
            why="Talos passes over them in both versions",
            needed=False,
        )
    found_by_mac = {one.name for one in network.cards if one.mac}
    for one in network.vlans if form == 2 else ():
        if one.parent in found_by_mac:
            yield UnsupportedSetting(
                what=f"{one.parent} below {one.name} is found by its MAC address",
                why="in version 2 Talos takes the link below a VLAN by its name alone",
                needed=False,
            )


def _version_1(network: NodeNetwork) -> NetworkConfigEntry:
    entries: list[NetworkConfigEntry] = [_version_1_entry(one) for one in network.interfaces]
    if network.resolvers:
        resolvers = [str(address) for address in network.resolvers]
        search: NetworkConfigEntry = (
            {"search": list(network.search_domains)} if network.search_domains else {}
        )
        entries.append({"type": "nameserver", "address": resolvers, **search})
    return {"version": 1, "config": entries}


def _version_1_entry(one: Interface) -> NetworkConfigEntry:
    entry: NetworkConfigEntry = {"type": "physical", "name": one.name}
    if one.bond is not None:
        entry = {"type": "bond", "name": one.name, "bond_interfaces": list(one.bond.members)}
        entry["params"] = _drop_unset(
            {
                "bond-mode": one.bond.mode,
                "bond-miimon": one.bond.miimon,
                "bond-lacp-rate": one.bond.lacp_rate,
                "bond-xmit-hash-policy": one.bond.hash_policy,
                "up-delay": one.bond.up_delay,
                "down-delay": one.bond.down_delay,
            }
        )
    elif one.vlan is not None:
        entry = {"type": "vlan", "name": one.name, "vlan_id": one.vlan, "vlan_link": one.parent}
    if one.mac:
        entry["mac_address"] = one.mac
    if one.mtu is not None:
        entry["mtu"] = one.mtu
    subnets = list(_subnets(one))
    if subnets:
        entry["subnets"] = subnets
    return entry


def _subnets(one: Interface) -> Iterator[NetworkConfigEntry]:
    if one.dhcp:
        yield {"type": "dhcp4"}
    for number, address in enumerate(one.addresses):
        subnet: NetworkConfigEntry = {"type": "static", "address": str(address)}
        if one.gateway is not None and number == 0:
            subnet["gateway"] = str(one.gateway)
        yield subnet


def _version_2(network: NodeNetwork) -> NetworkConfigEntry:
    found: NetworkConfigEntry = {"version": 2}
    for key, links in (
        ("ethernets", network.cards),
        ("bonds", network.bonds),
        ("vlans", network.vlans),
    ):
        if links:
            found[key] = {one.name: _version_2_entry(one) for one in links}
    # Talos joins the resolvers of all links; they stand on the first that is addressed.
    addressed = next((one for one in network.interfaces if one.addresses or one.dhcp), None)
    if addressed is not None and network.resolvers:
        resolvers: NetworkConfigEntry = {
            "addresses": [str(address) for address in network.resolvers]
        }
        if network.search_domains:
            resolvers["search"] = list(network.search_domains)
        for links_of in found.values():
            if isinstance(links_of, dict) and addressed.name in links_of:
                links_of[addressed.name]["nameservers"] = resolvers
    return found


def _version_2_entry(one: Interface) -> NetworkConfigEntry:
    link: NetworkConfigEntry = {}
    if one.mac:
        link["match"] = {"macaddress": one.mac}
    if one.bond is not None:
        link |= {"interfaces": list(one.bond.members), "parameters": _bond_parameters(one.bond)}
    if one.vlan is not None:
        link |= {"id": one.vlan, "link": one.parent}
    if one.mtu is not None:
        link["mtu"] = one.mtu
    if one.dhcp:
        link["dhcp4"] = True
    if one.addresses:
        link["addresses"] = [str(address) for address in one.addresses]
    routes: list[NetworkConfigEntry] = []
    if one.gateway is not None:
        routes.append({"to": "default", "via": str(one.gateway)})
    for hop in one.hops:
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
    """What the files say."""

    user_data: Secret
    """The machine configuration."""
    meta_data: str
    network_config: str

    def image(self, moment: datetime) -> bytes:
        """An ISO image of them; it holds every secret of the machine in the clear."""
        files = {
            USER_DATA: self.user_data.reveal(),
            META_DATA: self.meta_data,
            NETWORK_CONFIG: self.network_config,
        }
        return nocloud_image({name: text.encode() for name, text in files.items()}, moment)
