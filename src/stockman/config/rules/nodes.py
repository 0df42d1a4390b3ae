"""Rules for nodes: unique names, MAC addresses and ids, images, roles and classes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

from stockman.config.language.node import NodeSection
from stockman.config.rules.context import RuleContext
from stockman.model.origin import Origin

RESERVED_NAMES = frozenset({"global", "controller", "worker", "all"})
"""Names of patch directories that are not node names."""


class Claim(NamedTuple):
    """A value and its owner."""

    value: Hashable
    owner: str
    origin: Origin | None
    realm: Hashable = None
    """Values only conflict within the same realm."""


def check_identity(context: RuleContext) -> None:
    """Check that names, MAC addresses, VMIDs and UUIDs are unique."""
    _check_unique_claims(
        context, _name_claims(context), "node.name-taken", "a name that is taken", "another name"
    )
    _check_unique_claims(
        context, _mac_claims(context), "mac.taken", "a MAC address that is taken", "another one"
    )
    _check_unique_claims(
        context, _vmid_claims(context), "vm.vmid-taken", "a VMID that is taken", "another VMID"
    )
    _check_unique_claims(
        context, _uuid_claims(context), "vm.uuid-taken", "a UUID that is taken", "another UUID"
    )
    _check_reserved(context)
    _check_macs(context)


def _check_unique_claims(
    context: RuleContext, claims: Iterable[Claim], code: str, conflict: str, fix: str
) -> None:
    first: dict[Hashable, Claim] = {}
    for claim in claims:
        earlier = first.setdefault((claim.realm, claim.value), claim)
        if earlier is claim:
            continue
        position = f" ({earlier.origin.at})" if earlier.origin is not None else ""
        context.problems.error(
            code,
            f"{claim.owner} has {conflict}",
            why=f"{claim.value} belongs to {earlier.owner}{position}",
            fix=f"give {claim.owner} {fix}",
            at=claim.origin,
        )


def _name_claims(context: RuleContext) -> Iterable[Claim]:
    for index, node in enumerate(context.configuration.nodes):
        if node.name is not None:
            yield Claim(node.name, f"node {index + 1} of the list", node.where("name"))
    for index, guest in enumerate(context.configuration.guests):
        yield Claim(guest.name, f"guest {index + 1} of the list", guest.where("name"))


def _mac_claims(context: RuleContext) -> Iterable[Claim]:
    for node in context.configuration.nodes:
        owner = f"node {node.name}"
        if node.mac_addr is not None:
            yield Claim(node.mac_addr, owner, node.where("mac_addr"))
        for index, nic in enumerate(node.vm.nics if node.vm is not None else ()):
            repeats = index == 0 and nic.mac_addr == node.mac_addr
            if nic.mac_addr is not None and not repeats:
                yield Claim(nic.mac_addr, f"card {index} of {owner}", nic.where("mac_addr"))
    for guest in context.configuration.guests:
        block = guest.vm or guest.container
        for index, nic in enumerate(block.nics if block is not None else ()):
            if nic.mac_addr is not None:
                owner = f"card {index} of guest {guest.name}"
                yield Claim(nic.mac_addr, owner, nic.where("mac_addr"))


def _vmid_claims(context: RuleContext) -> Iterable[Claim]:
    for node in context.configuration.nodes:
        if node.vm is not None and node.vm.vmid is not None:
            owner = f"node {node.name}"
            region = node.vm.region or context.only_region
            yield Claim(node.vm.vmid, owner, node.vm.where("vmid"), region)
    for guest in context.configuration.guests:
        owner = f"guest {guest.name}"
        yield Claim(guest.vmid, owner, guest.where("vmid"), context.only_region)


def _uuid_claims(context: RuleContext) -> Iterable[Claim]:
    for node in context.configuration.nodes:
        if node.vm is not None and node.vm.uuid is not None:
            yield Claim(node.vm.uuid, f"node {node.name}", node.vm.where("uuid"))


def _check_reserved(context: RuleContext) -> None:
    for node in context.configuration.nodes:
        if node.name in RESERVED_NAMES:
            context.problems.error(
                "node.name-reserved",
                f"a node cannot be called {node.name}",
                why=f"{node.name} is a directory of patches for many nodes",
                fix="give the node another name",
                at=node.where("name"),
            )


def _check_macs(context: RuleContext) -> None:
    for claim in _mac_claims(context):
        first = int(str(claim.value)[:2], 16)
        if first & 1:
            context.problems.error(
                "mac.multicast",
                f"{claim.owner} has a group address as its MAC address",
                why=f"the first octet of {claim.value} is odd; switches send that to many",
                fix="use an even first octet, for example bc:24:11:...",
                at=claim.origin,
            )
    for node in context.configuration.nodes:
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


def check_images(context: RuleContext) -> None:
    """Check the schematic, install disk and firmware of nodes."""
    for node in context.configuration.nodes:
        if context.complete:
            _check_schematic(context, node)
        _check_install_disk(context, node)
        _check_secureboot(context, node)


def _check_schematic(context: RuleContext, node: NodeSection) -> None:
    talos = context.configuration.talos
    role = "controller_schematic_id" if node.controller else "worker_schematic_id"
    inherited = {role, "schematic_id", "schematic", "extensions", "kernel_args"}
    own = {"schematic", "extensions", "kernel_args"} & node.talos.origins.keys()
    if not own and "schematic_id" not in node.origins and not inherited & talos.origins.keys():
        context.problems.error(
            "node.schematic-missing",
            f"node {node.name} has no schematic",
            why="neither the node, its class nor the cluster names one or lists extensions",
            fix="add `schematic_id:` to the node, or `talos: {extensions: [...]}` to the cluster",
            at=node.where("name"),
        )
    if node.schematic_id is not None and own:
        field = min(own)
        context.problems.error(
            "node.schematic-twice",
            f"node {node.name} has a schematic id and `{field}` of its own",
            why="an id stands for one finished schematic; nothing can be added to it",
            fix=f"remove the id, or `{field}`",
            at=node.talos.where(field),
        )


def _check_install_disk(context: RuleContext, node: NodeSection) -> None:
    unnamed = node.disk is None and node.disk_selector is None
    if unnamed and node.vm is None and not {"disk", "disk_selector"} & node.origins.keys():
        context.problems.error(
            "config.missing-key",
            f"node {node.name} has no disk",
            why="a machine that stockman does not make has to say where Talos is installed",
            fix="add `disk:` with a path or a serial number, or `disk_selector:`",
            at=node.where("name"),
        )


def _check_secureboot(context: RuleContext, node: NodeSection) -> None:
    vm = node.vm
    if vm is None:
        return
    if node.secureboot and vm.bios != "ovmf":
        context.problems.error(
            "vm.secureboot-bios",
            f"node {node.name} cannot boot with SecureBoot",
            why=f"its firmware is {vm.bios}; only ovmf (UEFI) checks signatures",
            fix="set `bios: ovmf`, or `secureboot: false`",
            at=node.where("secureboot"),
        )
    if node.encrypt_disk and vm.tpm is None:
        context.problems.error(
            "vm.no-tpm",
            f"node {node.name} cannot keep its disk key",
            why="encrypt_disk seals the key in a TPM, and the VM has none",
            fix="add `tpm: {}` to the VM, or set `encrypt_disk: false`",
            at=node.where("encrypt_disk"),
        )


def check_roles(context: RuleContext) -> None:
    """Check the number of controllers."""
    nodes = context.configuration.nodes
    if not nodes or any(node.controller is None for node in nodes):
        return
    controllers = sum(1 for node in nodes if node.controller)
    origin = context.configuration.where("nodes")
    if controllers == 0:
        context.problems.error(
            "role.no-controller",
            "no node is a controller",
            why=f"{_all_workers(len(nodes))}; nobody would run etcd and the API",
            fix="set `controller: true` on one node, better on three",
            at=origin,
        )
    elif controllers % 2 == 0:
        survives = (controllers - 1) // 2
        context.problems.warn(
            "role.even-controllers",
            f"{controllers} controllers are an even number",
            why=f"etcd with {controllers} members survives the loss of {survives or 'none'}, "
            f"as it would with {controllers - 1}",
            fix=f"use {controllers - 1} or {controllers + 1} controllers",
            at=origin,
        )


def _all_workers(workers: int) -> str:
    return "the only node is a worker" if workers == 1 else f"all {workers} nodes are workers"


def check_classes(context: RuleContext) -> None:
    """Report unused classes."""
    estate = context.configuration
    used = {str(node.class_) for node in estate.nodes if node.class_ is not None}
    used |= {
        "controller" if node.controller else "worker"
        for node in estate.nodes
        if node.class_ is None
    }
    extended = {
        str(node_class.extends)
        for node_class in estate.classes.values()
        if node_class.extends is not None
    }
    for name, section in estate.classes.items():
        if estate.nodes and name not in used | extended:
            context.problems.warn(
                "class.unused",
                f"no node is of class {name}",
                why="neither a node nor another class names it",
                fix="remove it, or set `class:` on the nodes it was made for",
                at=section.where(),
            )
