"""Rules for patches of the machine configuration: strategic merges that do not change managed
parts."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.config.rules.context import RuleContext
from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problem

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
                fix="write keys, such as `machine: {sysctls: {...}}`",
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
        why=f"that follows from {decider}; a second opinion would be lost or break the node",
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
