"""Cloud-init keys of a Proxmox VM, and what they cannot say."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.model.desired import Node, Vm
from stockman.model.record import record
from stockman.talos.nocloud.meta_data import instance_id
from stockman.talos.nocloud.network import Interface, NodeNetwork, Wish
from stockman.talos.nocloud.smbios import serial, smbios1

CARDS = 32
"""Cards that a Proxmox VM can have."""
_USUAL_MTU = 1500


@record
class NativeKeys:
    """Keys that say all that is needed; Proxmox makes the drive from them."""

    keys: dict[str, str]
    later: tuple[Wish, ...] = ()
    """What only the machine configuration says, after it was applied."""


@record
class CustomIso:
    """Wishes that need an ISO image of our own."""

    wishes: tuple[Wish, ...]


@record
class Delivery:
    """What a node has to know at its first boot."""

    first_boot: bool = False
    """Whether it reads its machine configuration there; otherwise it waits to be told."""
    snippet: str = ""
    """Volume with the machine configuration, `local:snippets/cp-1.yaml`. Empty: none."""
    labels: bool = False
    """Whether region, zone and type are read from its meta-data."""


def native_or_iso(node: Node, network: NodeNetwork, delivery: Delivery) -> NativeKeys | CustomIso:
    """The native keys, or why they do not suffice."""
    wishes = list(_wishes(node, network, delivery))
    if node.vm is None or any(wish.needed for wish in wishes):
        return CustomIso(wishes=tuple(wishes))
    return NativeKeys(keys=_keys(node, node.vm, network, delivery), later=tuple(wishes))


def _wishes(node: Node, network: NodeNetwork, delivery: Delivery) -> Iterator[Wish]:
    if node.vm is None:
        yield Wish(what=f"{node.name} is no VM", why="only VMs of Proxmox have such keys")
        return
    if delivery.first_boot and not delivery.snippet:
        yield Wish(
            what="the machine configuration at first boot",
            why="Proxmox writes user-data of its own, which Talos passes over; another one has to"
            " lie in a storage for snippets, where its API puts nothing",
        )
    if delivery.labels:
        yield Wish(
            what="region, zone, instance-type and provider-id",
            why="the meta-data that Proxmox writes holds an instance-id alone",
        )
    for one in network.interfaces:
        yield from _link_wishes(one, node.vm)
    if len(network.cards) > CARDS:
        yield Wish(what=f"{len(network.cards)} cards", why=f"a VM has {CARDS} at most")


def _link_wishes(one: Interface, vm: Vm) -> Iterator[Wish]:
    carries = bool(one.addresses or one.dhcp)
    if one.vlan is not None:
        why = f"ipconfigN addresses a card, not VLAN {one.vlan} on it"
        yield Wish(what=f"the VLAN {one.name}", why=why, needed=carries)
        return
    if one.bond is not None:
        yield Wish(
            what=f"the bond {one.name}", why="ipconfigN addresses a card, not a bond of some"
        )
        return
    position = _position(one)
    if position is None or position >= len(vm.nics):
        yield Wish(
            what=f"the link {one.name}",
            why="ipconfigN goes with netN, and no card of the VM has this name",
            needed=carries,
        )
        return
    if not carries:
        why = "Proxmox passes over cards without an address, and Talos asks for one by DHCP there"
        yield Wish(what=f"{one.name} up without an address", why=why, needed=False)
    if len(one.addresses) + one.dhcp > 1:
        yield Wish(
            what=f"{len(one.addresses) + one.dhcp} addresses of {one.name}",
            why="ipconfigN holds one IPv4 address",
            needed=False,
        )
    if one.hops:
        why = "ipconfigN holds the default route alone"
        yield Wish(what=f"{len(one.hops)} routes by {one.name}", why=why, needed=False)
    if one.mtu not in (None, _USUAL_MTU, vm.nics[position].mtu):
        why = "no cloud-init key holds it, and the card itself has another one"
        yield Wish(what=f"MTU {one.mtu} of {one.name}", why=why, needed=False)


def _keys(node: Node, vm: Vm, network: NodeNetwork, delivery: Delivery) -> dict[str, str]:
    keys = {"citype": "nocloud"}
    for one in network.cards:
        position = _position(one)
        if position is not None and (one.dhcp or one.addresses):
            keys[f"ipconfig{position}"] = _address(one)
    if network.resolvers:
        keys["nameserver"] = " ".join(str(address) for address in network.resolvers)
    if network.search_domains:
        keys["searchdomain"] = " ".join(network.search_domains)
    if delivery.snippet:
        keys["cicustom"] = f"user={delivery.snippet}"
    text = serial(hostname=str(node.name), instance_id=instance_id(node))
    return keys | {"smbios1": smbios1(vm.uuid, text)}


def _address(one: Interface) -> str:
    if one.dhcp:
        return "ip=dhcp"
    gateway = f"gw={one.gateway}," if one.gateway is not None else ""
    return f"{gateway}ip={one.addresses[0]}"


def _position(one: Interface) -> int | None:
    digits = one.name.removeprefix("eth")
    return int(digits) if digits != one.name and digits.isdigit() else None
