"""Rules about nodes and their patches."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

from stockman.config.language import NodeSection
from stockman.config.rules.context import RuleContext
from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problem

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
        context,
        _name_claims(context),
        "a name that is taken",
        "another name",
        code="node.name-taken",
    )
    _check_unique_claims(
        context,
        _mac_claims(context),
        "a MAC address that is taken",
        "another one",
        code="mac.taken",
    )
    _check_unique_claims(
        context, _vmid_claims(context), "a VMID that is taken", "another VMID", code="vm.vmid-taken"
    )
    _check_unique_claims(
        context, _uuid_claims(context), "a UUID that is taken", "another UUID", code="vm.uuid-taken"
    )
    _check_reserved(context)
    _check_macs(context)


def _check_unique_claims(
    context: RuleContext, claims: Iterable[Claim], conflict: str, fix: str, *, code: str
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
    for index, node in enumerate(context.configuration.nodes):
        if node.vm is None and "mac_addr" not in node.origins and "vm" not in node.origins:
            context.problems.error(
                "config.missing-key",
                f"nodes[{index}].mac_addr is missing",
                why="stockman does not create the machine, so its address is unknown",
                fix="add `mac_addr:`; see `stockman explain nodes.mac_addr`",
                at=node.where(),
            )
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
            why="a machine that stockman does not create needs the disk for Talos",
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
            why=f"{_all_workers(len(nodes))}; no node would run etcd and the API",
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
                fix="remove it, or set `class:` on the nodes that should use it",
                at=section.where(),
            )


OWNED: dict[tuple[str, ...], str] = {
    ("machine", "type"): "the node's `controller:` key",
    ("machine", "token"): "the secrets bundle",
    ("machine", "ca"): "the secrets bundle",
    ("machine", "install", "image"): "the Talos version and the schematic",
    ("machine", "install", "disk"): "the node's `disk:` key",
    ("machine", "network", "hostname"): "the node's `name:` key",
    ("cluster", "id"): "the secrets bundle",
    ("cluster", "secret"): "the secrets bundle",
    ("cluster", "token"): "the secrets bundle",
    ("cluster", "ca"): "the secrets bundle",
    ("cluster", "aggregatorCA"): "the secrets bundle",
    ("cluster", "serviceAccount"): "the secrets bundle",
    ("cluster", "secretboxEncryptionSecret"): "the secrets bundle",
    ("cluster", "aescbcEncryptionSecret"): "the secrets bundle",
    ("cluster", "etcd", "ca"): "the secrets bundle",
    ("cluster", "clusterName"): "the cluster's name",
    ("cluster", "controlPlane", "endpoint"): "the API's address",
    ("cluster", "network", "podSubnets"): "the pod network",
    ("cluster", "network", "serviceSubnets"): "the service network",
    ("cluster", "allowSchedulingOnControlPlanes"): "kubernetes.schedule_on_controllers",
}
"""Fields of the v1alpha1 document that a key of the configuration or the bundle determines."""

OWNED_KINDS: dict[str, str] = {
    "HostnameConfig": "the node's `name:` key",
    "KubeClusterConfig": "the cluster's name and the API's address",
    "DiscoveryIdentityConfig": "the secrets bundle",
    "KubeAPIServerCAConfig": "the secrets bundle",
    "KubeAggregatorCAConfig": "the secrets bundle",
    "KubeServiceAccountConfig": "the secrets bundle",
    "KubeEtcdEncryptionConfig": "the secrets bundle",
    "UnattendedInstallConfig": "the Talos version, the schematic and the node's `disk:` key",
}
"""Documents that a key of the configuration or the bundle determines."""

FILE_MARK = "@"
"""Prefix of a text that names a patch file."""
_PATCH_FILES = (".yaml", ".yml", ".yaml.j2", ".yaml.tpl")
_SEVERAL_DOCUMENTS = (1, 12)
"""First contract in which every configuration has several documents."""

_Patches = Iterator[tuple[object, str, Origin | None]]


def check_patches(context: RuleContext) -> None:
    """Check all patches of the configuration."""
    for patch, owner, where in _patches(context):
        if isinstance(patch, list):
            _check_operations(context, owner, where)
        if isinstance(patch, dict | list):
            node = context.patch_nodes.get(where.at) if where is not None else None
            if node is not None:
                context.problems.extend(owned_key_problems(node, owner))
        elif not isinstance(patch, str) or not _may_hold_keys(patch):
            context.problems.error(
                "patch.form",
                f"{owner} is not a part of a configuration",
                why="a patch is a mapping like the configuration that it changes",
                fix=f"write '{FILE_MARK}{patch}', because only this names a file"
                if isinstance(patch, str) and patch.endswith(_PATCH_FILES)
                else "write keys, such as `machine: {sysctls: {...}}`",
                at=where,
            )


def owned_key_problems(patch: TreeNode, label: str) -> Iterator[Problem]:
    """Yield problems for parts of a patch document that stockman manages."""
    if isinstance(patch, SequenceNode):
        for operation in patch.items:
            yield from _operation_problems(operation, label)
    if not isinstance(patch, MappingNode):
        return
    name = _read_text(patch, "kind")
    if name in OWNED_KINDS:
        yield _owned_key_problem(label, name, OWNED_KINDS[name], patch.at)
    for path, decider in OWNED.items():
        at = _find_path(patch, path)
        if at is not None:
            yield _owned_key_problem(label, ".".join(path), decider, at)


def _operation_problems(operation: TreeNode, label: str) -> Iterator[Problem]:
    """Yield the same problems for an operation of a JSON patch, including operations on parents."""
    if not isinstance(operation, MappingNode) or _read_text(operation, "op") == "test":
        return
    for key in ("path", "from"):
        steps = tuple(_read_text(operation, key).strip("/").split("/"))
        for path, decider in OWNED.items():
            shorter = min(len(path), len(steps))
            if steps[0] and path[:shorter] == steps[:shorter]:
                yield _owned_key_problem(label, ".".join(path), decider, operation.at)


def _read_text(node: MappingNode, key: str) -> str:
    value = node.get(key)
    return value.text if isinstance(value, ScalarNode) else ""


def _find_path(patch: MappingNode, path: tuple[str, ...]) -> Position | None:
    """Return the position of a path in a patch; None: the patch does not contain it."""
    node: TreeNode = patch
    at = patch.at
    for step in path:
        entry = node.entries.get(step) if isinstance(node, MappingNode) else None
        if entry is None:
            return None
        node, at = entry.value, entry.key.at
    return at


def _owned_key_problem(label: str, field: str, decider: str, at: Position) -> Problem:
    return Problem(
        code="patch.owned-key",
        what=f"{label} touches {field}",
        where=at,
        why=f"{decider} determines it; a different value would be lost or break the node",
        fix=f"remove {field} from the patch",
    )


def _patches(context: RuleContext) -> _Patches:
    shared = context.configuration.talos.patches
    for scope in ("all", "controller", "worker"):
        for index, patch in enumerate(getattr(shared, scope)):
            origin = shared.origins.get(f"{scope}[{index}]")
            yield patch, f"patch {index + 1} of talos.patches.{scope}", origin
    for node in context.configuration.nodes:
        for index, patch in enumerate(node.talos.patches):
            origin = node.talos.origins.get(f"patches[{index}]")
            owner = origin.name if origin is not None else f"a patch of node {node.name}"
            yield patch, owner, origin


def _check_operations(context: RuleContext, owner: str, where: Origin | None) -> None:
    """Report JSON patches if configurations have several documents."""
    talos = context.configuration.talos
    contract = talos.contract or talos.version
    if contract is None or contract.line >= _SEVERAL_DOCUMENTS:
        context.problems.error(
            "patch.json6902",
            f"{owner} is a list of operations",
            why="Talos refuses JSON patches on configurations of several documents",
            fix="write the patch as the part of the configuration that it changes",
            at=where,
        )


def _may_hold_keys(text: str) -> bool:
    return ":" in text or (text.startswith(FILE_MARK) and len(text) > 1)
