"""Cloud-init keys of a Proxmox VM, its SMBIOS serial number, and settings they cannot express."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from urllib.parse import urlsplit
from uuid import UUID

from stockman.model.desired import Node, Vm
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.talos.nocloud.network import Interface, NodeNetwork, UnsupportedSetting
from stockman.talos.nocloud.seed import instance_id

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
