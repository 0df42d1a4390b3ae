"""Names, hardware addresses and ids: each exists once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

from stockman.config.rules.context import Context
from stockman.model.origin import Origin

RESERVED_NAMES = frozenset({"global", "controller", "worker", "all"})
"""Names that patch directories have in repositories of this kind."""


class Claim(NamedTuple):
    """A value and who claims it."""

    value: Hashable
    owner: str
    origin: Origin | None
    realm: Hashable = None
    """Values collide only inside of one realm."""


def check(context: Context) -> None:
    _once(context, _names(context), "node.name-taken", "a name that is taken", "another name")
    _once(context, _macs(context), "mac.taken", "a MAC address that is taken", "another one")
    _once(context, _vmids(context), "vm.vmid-taken", "a VMID that is taken", "another VMID")
    _once(context, _uuids(context), "vm.uuid-taken", "a UUID that is taken", "another UUID")
    _check_reserved(context)
    _check_macs(context)


def _once(context: Context, claims: Iterable[Claim], code: str, what: str, fix: str) -> None:
    first: dict[Hashable, Claim] = {}
    for claim in claims:
        other = first.setdefault((claim.realm, claim.value), claim)
        if other is claim:
            continue
        place = f" ({other.origin.at})" if other.origin is not None else ""
        context.problems.error(
            code,
            f"{claim.owner} has {what}",
            why=f"{claim.value} belongs to {other.owner}{place}",
            fix=f"give {claim.owner} {fix}",
            at=claim.origin,
        )


def _names(context: Context) -> Iterable[Claim]:
    for index, node in enumerate(context.estate.nodes):
        if node.name is not None:
            yield Claim(node.name, f"node {index + 1} of the list", node.where("name"))
    for index, guest in enumerate(context.estate.guests):
        yield Claim(guest.name, f"guest {index + 1} of the list", guest.where("name"))


def _macs(context: Context) -> Iterable[Claim]:
    for node in context.estate.nodes:
        owner = f"node {node.name}"
        if node.mac_addr is not None:
            yield Claim(node.mac_addr, owner, node.where("mac_addr"))
        for index, nic in enumerate(node.vm.nics if node.vm is not None else ()):
            repeats = index == 0 and nic.mac_addr == node.mac_addr
            if nic.mac_addr is not None and not repeats:
                yield Claim(nic.mac_addr, f"card {index} of {owner}", nic.where("mac_addr"))
    for guest in context.estate.guests:
        block = guest.vm or guest.container
        for index, nic in enumerate(block.nics if block is not None else ()):
            if nic.mac_addr is not None:
                owner = f"card {index} of guest {guest.name}"
                yield Claim(nic.mac_addr, owner, nic.where("mac_addr"))


def _vmids(context: Context) -> Iterable[Claim]:
    for node in context.estate.nodes:
        if node.vm is not None and node.vm.vmid is not None:
            owner = f"node {node.name}"
            region = node.vm.region or context.only_region
            yield Claim(node.vm.vmid, owner, node.vm.where("vmid"), region)
    for guest in context.estate.guests:
        owner = f"guest {guest.name}"
        yield Claim(guest.vmid, owner, guest.where("vmid"), context.only_region)


def _uuids(context: Context) -> Iterable[Claim]:
    for node in context.estate.nodes:
        if node.vm is not None and node.vm.uuid is not None:
            yield Claim(node.vm.uuid, f"node {node.name}", node.vm.where("uuid"))


def _check_reserved(context: Context) -> None:
    for node in context.estate.nodes:
        if node.name in RESERVED_NAMES:
            context.problems.error(
                "node.name-reserved",
                f"a node cannot be called {node.name}",
                why=f"{node.name} is a directory of patches for many nodes",
                fix="give the node another name",
                at=node.where("name"),
            )


def _check_macs(context: Context) -> None:
    for claim in _macs(context):
        first = int(str(claim.value)[:2], 16)
        if first & 1:
            context.problems.error(
                "mac.multicast",
                f"{claim.owner} has a group address as its MAC address",
                why=f"the first octet of {claim.value} is odd; switches send that to many",
                fix="use an even first octet, for example bc:24:11:...",
                at=claim.origin,
            )
    for node in context.estate.nodes:
        nic = node.vm.nics[0] if node.vm is not None and node.vm.nics else None
        if nic is None or nic.mac_addr is None or nic.mac_addr == node.mac_addr:
            continue
        if node.mac_addr is not None:
            context.problems.error(
                "mac.contradiction",
                f"the first card of node {node.name} has two MAC addresses",
                why=f"the card says {nic.mac_addr}, mac_addr says {node.mac_addr}",
                fix="remove one of the two",
                at=nic.where("mac_addr"),
            )
