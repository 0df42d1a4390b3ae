"""Objects that Talos writes into a cluster, in few words."""

from __future__ import annotations

from collections.abc import Sequence

from stockman_lab.kube.objects import Object

SYSTEM = "kube-system"
RBAC = "rbac.authorization.k8s.io"


def made(version: str, kind: str, name: str, space: str = "", **more: object) -> Object:
    metadata: Object = {"name": name, **({"namespace": space} if space else {})}
    labels = more.pop("labels", None)
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def account_of(name: str) -> Object:
    return made("v1", "ServiceAccount", name, SYSTEM)


def bound(name: str, role: str, account: str) -> Object:
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    subjects = [{"kind": "ServiceAccount", "name": account, "namespace": SYSTEM}]
    return made(f"{RBAC}/v1", "ClusterRoleBinding", name, roleRef=reference, subjects=subjects)


def role(name: str, rules: Sequence[Object]) -> Object:
    return made(f"{RBAC}/v1", "ClusterRole", name, rules=list(rules))
