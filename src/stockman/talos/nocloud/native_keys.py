"""The serial number of a VM, which nocloud machines read before anything else."""

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
"""Characters that Proxmox takes for `smbios1`."""
_SEPARATOR = ";"


def smbios_serial(*, hostname: str = "", instance_id: str = "", url: str = "") -> str:
    """The text of the serial number: a name, an id, and a server to ask for the rest.

    With a server the word is `nocloud-net`; Talos passes over `nocloud`.
    """
    if url and urlsplit(url).scheme not in ("http", "https"):
        raise Refused(
            _serial_problem("the server", url, "Talos asks servers by http and https alone")
        )
    parts = {"ds": "nocloud-net" if url else "", "s": url, "h": hostname, "i": instance_id}
    for value in parts.values():
        if _SEPARATOR in value:
            raise Refused(_serial_problem("a part", value, f"{_SEPARATOR} sets the parts apart"))
    return _SEPARATOR.join(f"{key}={value}" for key, value in parts.items() if value)


def smbios1(uuid: UUID, text: str) -> str:
    """The key of the VM; it replaces all that was said there, so the UUID is said again."""
    packed = base64.b64encode(text.encode()).decode("ascii")
    value = f"base64=1,serial={packed},uuid={uuid}"
    if len(value) > LONGEST_SERIAL:
        why = f"Proxmox takes {LONGEST_SERIAL} characters for smbios1, and these are {len(value)}"
        raise Refused(_serial_problem("the whole", text, why))
    return value


def _serial_problem(part: str, value: str, why: str) -> Problem:
    return Problem(
        code="nocloud.serial",
        what=f"{part} of a serial number cannot be {value}",
        why=why,
        fix="give a shorter http address and plain names, or deliver the files by an ISO image",
    )


CARDS = 32
"""Cards that a Proxmox VM can have."""
_USUAL_MTU = 1500


@record
class NativeKeys:
    """Keys that say all that is needed; Proxmox makes the drive from them."""

    keys: dict[str, str]
    later: tuple[UnsupportedSetting, ...] = ()
    """What only the machine configuration says, after it was applied."""


@record
class CustomIso:
    """Wishes that need an ISO image of our own."""

    wishes: tuple[UnsupportedSetting, ...]


@record
class FirstBootData:
    """What a node has to know at its first boot."""

    first_boot: bool = False
    """Whether it reads its machine configuration there; otherwise it waits to be told."""
    snippet: str = ""
    """Volume with the machine configuration, `local:snippets/cp-1.yaml`. Empty: none."""
    labels: bool = False
    """Whether region, zone and type are read from its meta-data."""


def choose_delivery(
    node: Node, network: NodeNetwork, delivery: FirstBootData
) -> NativeKeys | CustomIso:
    """The native keys, or why they do not suffice."""
    wishes = list(_unsupported_settings(node, network, delivery))
    if node.vm is None or any(wish.needed for wish in wishes):
        return CustomIso(wishes=tuple(wishes))
    return NativeKeys(keys=_native_keys(node, node.vm, network, delivery), later=tuple(wishes))


def _unsupported_settings(
    node: Node, network: NodeNetwork, delivery: FirstBootData
) -> Iterator[UnsupportedSetting]:
    if node.vm is None:
        yield UnsupportedSetting(
            what=f"{node.name} is no VM", why="only VMs of Proxmox have such keys"
        )
        return
    if delivery.first_boot and not delivery.snippet:
        yield UnsupportedSetting(
            what="the machine configuration at first boot",
            why="Proxmox writes user-data of its own, which Talos passes over; another one has to"
            " lie in a storage for snippets, where its API puts nothing",
        )
    if delivery.labels:
        yield UnsupportedSetting(
            what="region, zone, instance-type and provider-id",
            why="the meta-data that Proxmox writes holds an instance-id alone",
        )
    for one in network.interfaces:
        yield from _unsupported_link_settings(one, node.vm)
    if len(network.cards) > CARDS:
        yield UnsupportedSetting(
            what=f"{len(network.cards)} cards", why=f"a VM has {CARDS} at most"
        )


def _unsupported_link_settings(one: Interface, vm: Vm) -> Iterator[UnsupportedSetting]:
    carries = bool(one.addresses or one.dhcp)
    if one.vlan is not None:
        why = f"ipconfigN addresses a card, not VLAN {one.vlan} on it"
        yield UnsupportedSetting(what=f"the VLAN {one.name}", why=why, needed=carries)
        return
    if one.bond is not None:
        yield UnsupportedSetting(
            what=f"the bond {one.name}", why="ipconfigN addresses a card, not a bond of some"
        )
        return
    position = _card_index(one)
    if position is None or position >= len(vm.nics):
        yield UnsupportedSetting(
            what=f"the link {one.name}",
            why="ipconfigN goes with netN, and no card of the VM has this name",
            needed=carries,
        )
        return
    if not carries:
        why = "Proxmox passes over cards without an address, and Talos asks for one by DHCP there"
        yield UnsupportedSetting(what=f"{one.name} up without an address", why=why, needed=False)
    if len(one.addresses) + one.dhcp > 1:
        yield UnsupportedSetting(
            what=f"{len(one.addresses) + one.dhcp} addresses of {one.name}",
            why="ipconfigN holds one IPv4 address",
            needed=False,
        )
    if one.hops:
        why = "ipconfigN holds the default route alone"
        yield UnsupportedSetting(
            what=f"{len(one.hops)} routes by {one.name}", why=why, needed=False
        )
    if one.mtu not in (None, _USUAL_MTU, vm.nics[position].mtu):
        why = "no cloud-init key holds it, and the card itself has another one"
        yield UnsupportedSetting(what=f"MTU {one.mtu} of {one.name}", why=why, needed=False)


def _native_keys(
    node: Node, vm: Vm, network: NodeNetwork, delivery: FirstBootData
) -> dict[str, str]:
    keys = {"citype": "nocloud"}
    for one in network.cards:
        position = _card_index(one)
        if position is not None and (one.dhcp or one.addresses):
            keys[f"ipconfig{position}"] = _ip_config(one)
    if network.resolvers:
        keys["nameserver"] = " ".join(str(address) for address in network.resolvers)
    if network.search_domains:
        keys["searchdomain"] = " ".join(network.search_domains)
    if delivery.snippet:
        keys["cicustom"] = f"user={delivery.snippet}"
    text = smbios_serial(hostname=str(node.name), instance_id=instance_id(node))
    return keys | {"smbios1": smbios1(vm.uuid, text)}


def _ip_config(one: Interface) -> str:
    if one.dhcp:
        return "ip=dhcp"
    gateway = f"gw={one.gateway}," if one.gateway is not None else ""
    return f"{gateway}ip={one.addresses[0]}"


def _card_index(one: Interface) -> int | None:
    digits = one.name.removeprefix("eth")
    return int(digits) if digits != one.name and digits.isdigit() else None
