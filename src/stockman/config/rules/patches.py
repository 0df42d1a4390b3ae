"""Patches of the machine configuration: strategic merges that leave alone what stockman owns."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.config.rules.context import Context
from stockman.model.origin import Origin

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
"""Fields of the v1alpha1 document that a key of the configuration or the bundle decides."""

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
"""Documents that a key of the configuration or the bundle decides."""

_Patches = Iterator[tuple[object, str, Origin | None]]


def check(context: Context) -> None:
    for patch, owner, where in _patches(context):
        if isinstance(patch, list):
            context.problems.error(
                "patch.json6902",
                f"{owner} is a list of operations",
                why="Talos refuses JSON patches on configurations of several documents",
                fix="write the patch as the part of the configuration that it changes",
                at=where,
            )
        elif not isinstance(patch, dict):
            context.problems.error(
                "patch.form",
                f"{owner} is not a part of a configuration",
                why="a patch is a mapping like the configuration that it changes",
                fix="write keys, such as `machine: {sysctls: {...}}`",
                at=where,
            )
        else:
            _check_owned(context, patch, owner, where)


def _patches(context: Context) -> _Patches:
    shared = context.estate.talos.patches
    for scope in ("all", "controller", "worker"):
        for index, patch in enumerate(getattr(shared, scope)):
            origin = shared.origins.get(f"{scope}[{index}]")
            yield patch, f"patch {index + 1} of talos.patches.{scope}", origin
    for node in context.estate.nodes:
        for index, patch in enumerate(node.talos.patches):
            origin = node.talos.origins.get(f"patches[{index}]")
            owner = origin.name if origin is not None else f"a patch of node {node.name}"
            yield patch, owner, origin


def _check_owned(
    context: Context, patch: dict[str, object], owner: str, where: Origin | None
) -> None:
    kind = patch.get("kind")
    if isinstance(kind, str) and kind in OWNED_KINDS:
        _refuse(context, kind, OWNED_KINDS[kind], owner, where)
    for path, decider in OWNED.items():
        node: object = patch
        for step in path:
            node = node.get(step) if isinstance(node, dict) else None
        if node is not None:
            _refuse(context, ".".join(path), decider, owner, where)


def _refuse(context: Context, what: str, decider: str, owner: str, where: Origin | None) -> None:
    context.problems.error(
        "patch.owned-key",
        f"{owner} touches {what}",
        why=f"that follows from {decider}; a second opinion would be lost or break the node",
        fix=f"remove {what} from the patch",
        at=where,
    )
