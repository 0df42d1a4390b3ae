"""Files and cloud-init keys that a nocloud machine reads at its first boot."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit
from uuid import UUID

from stockman.config.writers.yaml_writer import render_yaml
from stockman.model.desired import Node, Vm
from stockman.model.errors import Refused
from stockman.model.machine import Bond
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.nocloud.iso_format import nocloud_image
from stockman.talos.nocloud.network import Interface, NodeNetwork, UnsupportedSetting

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
        options = [
            name
            for name in ("ad_select", "min_links")
            if interface.bond is not None and getattr(interface.bond, name) is not None
        ]
        if options:
            yield UnsupportedSetting(
                what=f"{', '.join(options)} of {interface.name}",
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
            "bond_interfaces": list(interface.members),
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
            "interfaces": list(interface.members),
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


def _bond_parameters(bond: Bond) -> NetworkConfigEntry:
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


LONGEST_SERIAL = 512
"""Maximum length that Proxmox accepts for `smbios1`."""
_SEPARATOR = ";"


def smbios_serial(*, hostname: str = "", instance_id: str = "", url: str = "") -> str:
    """Return the SMBIOS serial number that configures nocloud: hostname, instance ID and server.

    With a server the data source is `nocloud-net`; Talos ignores the server of `nocloud`.
    """
    if url and urlsplit(url).scheme not in ("http", "https"):
        raise Refused(_serial_problem("the server", url, "Talos supports only http and https"))
    fields = {"ds": "nocloud-net" if url else "", "s": url, "h": hostname, "i": instance_id}
    for value in fields.values():
        if _SEPARATOR in value:
            raise Refused(_serial_problem("a field", value, f"{_SEPARATOR} separates fields"))
    return _SEPARATOR.join(f"{key}={value}" for key, value in fields.items() if value)


def smbios1(uuid: UUID, text: str) -> str:
    """Return the `smbios1` key; it replaces the whole value, so it repeats the UUID."""
    packed = base64.b64encode(text.encode()).decode("ascii")
    value = f"base64=1,serial={packed},uuid={uuid}"
    if len(value) > LONGEST_SERIAL:
        why = f"Proxmox accepts {LONGEST_SERIAL} characters for smbios1, but it has {len(value)}"
        raise Refused(_serial_problem("the content", text, why))
    return value


def _serial_problem(field: str, value: str, why: str) -> Problem:
    return Problem(
        code="nocloud.serial",
        what=f"{field} of a serial number cannot be {value}",
        why=why,
        fix="use a shorter http address and plain names, or deliver the files as an ISO image",
    )


CARDS = 32
"""Maximum number of network cards of a Proxmox VM."""
_USUAL_MTU = 1500


@record
class NativeKeys:
    """Cloud-init keys that suffice; Proxmox generates the drive from them."""

    keys: dict[str, str]
    later: tuple[UnsupportedSetting, ...] = ()
    """Settings that only the machine configuration applies, later."""


@record
class CustomIso:
    """Settings that require an ISO image written by stockman."""

    settings: tuple[UnsupportedSetting, ...]


@record
class FirstBootData:
    """What is delivered to a node for its first boot."""

    first_boot: bool = False
    """Whether it reads its machine configuration there; otherwise it waits in maintenance mode."""
    snippet: str = ""
    """Volume with the machine configuration, `local:snippets/cp-1.yaml`. Empty: none."""
    labels: bool = False
    """Whether cloud controllers read region, zone and type from its meta-data."""


def choose_delivery(
    node: Node, network: NodeNetwork, delivery: FirstBootData
) -> NativeKeys | CustomIso:
    """Return the native keys, or the settings that they cannot express."""
    settings = list(_unsupported_settings(node, network, delivery))
    if node.vm is None or any(setting.needed for setting in settings):
        return CustomIso(settings=tuple(settings))
    return NativeKeys(keys=_native_keys(node, node.vm, network, delivery), later=tuple(settings))


def _unsupported_settings(
    node: Node, network: NodeNetwork, delivery: FirstBootData
) -> Iterator[UnsupportedSetting]:
    if node.vm is None:
        yield UnsupportedSetting(
            what=f"{node.name} is not a VM", why="only Proxmox VMs have cloud-init keys"
        )
        return
    if delivery.first_boot and not delivery.snippet:
        yield UnsupportedSetting(
            what="the machine configuration at first boot",
            why="Proxmox generates its own user-data, which Talos ignores; a custom file must"
            " exist in a snippet storage, and the Proxmox API cannot upload it there",
        )
    if delivery.labels:
        yield UnsupportedSetting(
            what="region, zone, instance-type and provider-id",
            why="the meta-data that Proxmox generates contains only an instance-id",
        )
    for interface in network.interfaces:
        yield from _unsupported_link_settings(interface, node.vm)
    if len(network.cards) > CARDS:
        yield UnsupportedSetting(
            what=f"{len(network.cards)} cards", why=f"a VM has at most {CARDS}"
        )


def _unsupported_link_settings(interface: Interface, vm: Vm) -> Iterator[UnsupportedSetting]:
    carries = bool(interface.addresses or interface.dhcp)
    if interface.vlan is not None:
        why = f"ipconfigN configures a card, not VLAN {interface.vlan} on it"
        yield UnsupportedSetting(what=f"the VLAN {interface.name}", why=why, needed=carries)
        return
    if interface.bond is not None:
        yield UnsupportedSetting(
            what=f"the bond {interface.name}", why="ipconfigN configures a card, not a bond"
        )
        return
    position = _card_index(interface)
    if position is None or position >= len(vm.nics):
        yield UnsupportedSetting(
            what=f"the link {interface.name}",
            why="ipconfigN belongs to netN, and no card of the VM has this name",
            needed=carries,
        )
        return
    if not carries:
        why = "Proxmox omits cards without an address, and Talos then uses DHCP there"
        yield UnsupportedSetting(
            what=f"{interface.name} up without an address", why=why, needed=False
        )
    if len(interface.addresses) + interface.dhcp > 1:
        yield UnsupportedSetting(
            what=f"{len(interface.addresses) + interface.dhcp} addresses of {interface.name}",
            why="ipconfigN supports one IPv4 address",
            needed=False,
        )
    if interface.hops:
        why = "ipconfigN supports only the default route"
        yield UnsupportedSetting(
            what=f"{len(interface.hops)} routes by {interface.name}", why=why, needed=False
        )
    if interface.mtu not in (None, _USUAL_MTU, vm.nics[position].mtu):
        why = "no cloud-init key sets it, and the virtual card has another MTU"
        yield UnsupportedSetting(
            what=f"MTU {interface.mtu} of {interface.name}", why=why, needed=False
        )


def _native_keys(
    node: Node, vm: Vm, network: NodeNetwork, delivery: FirstBootData
) -> dict[str, str]:
    keys = {"citype": "nocloud"}
    for interface in network.cards:
        position = _card_index(interface)
        if position is not None and (interface.dhcp or interface.addresses):
            keys[f"ipconfig{position}"] = _ip_config(interface)
    if network.resolvers:
        keys["nameserver"] = " ".join(str(address) for address in network.resolvers)
    if network.search_domains:
        keys["searchdomain"] = " ".join(network.search_domains)
    if delivery.snippet:
        keys["cicustom"] = f"user={delivery.snippet}"
    text = smbios_serial(hostname=str(node.name), instance_id=instance_id(node))
    return keys | {"smbios1": smbios1(vm.uuid, text)}


def _ip_config(interface: Interface) -> str:
    if interface.dhcp:
        return "ip=dhcp"
    gateway = f"gw={interface.gateway}," if interface.gateway is not None else ""
    return f"{gateway}ip={interface.addresses[0]}"


def _card_index(interface: Interface) -> int | None:
    digits = interface.name.removeprefix("eth")
    return int(digits) if digits != interface.name and digits.isdigit() else None
