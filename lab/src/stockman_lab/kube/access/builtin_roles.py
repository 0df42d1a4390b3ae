"""Roles and bindings that a kube-apiserver sees to when it starts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman.model.package_file import read_package_bytes
from stockman_lab.core.dice import Dice
from stockman_lab.kube.access.roles import aggregated
from stockman_lab.kube.objects import Object, written_time
from stockman_lab.kube.store.store import Store

_PLURALS = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "Role": "roles",
    "RoleBinding": "rolebindings",
}
_LABEL = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_ANNOTATIONS = {"rbac.authorization.kubernetes.io/autoupdate": "true"}


@cache
def _table() -> list[tuple[str, str, str, dict[str, str], Object]]:
    text = read_package_bytes("stockman_lab.kube.access", "builtin_roles.json")
    return [
        (kind, space, name, labels, body) for kind, space, name, labels, body in json.loads(text)
    ]


def builtin_roles() -> Iterator[tuple[ObjectKey, Object]]:
    """All of them, without identity and time."""
    result = []
    for kind, namespace, name, labels, body in _table():
        metadata: Object = {"name": name} | ({"namespace": namespace} if namespace else {})
        metadata |= {"labels": {**_LABEL, **labels}, "annotations": dict(_ANNOTATIONS)}
        content = {
            "kind": kind,
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "metadata": metadata,
            **json.loads(json.dumps(body)),
        }
        result.append((ObjectKey(_PLURALS[kind], name, namespace), content))
    every = [content for _, content in result if content["kind"] == "ClusterRole"]
    for key, content in result:
        if "aggregationRule" in content:
            content["rules"] = [item.content for item in aggregated(content, every)]
        yield key, content


def add_builtin_roles(store: Store, dice: Dice, now: float) -> None:
    """Put in what is missing; raises `EtcdError`."""
    for place, content in builtin_roles():
        if store.get(place.key) is None:
            metadata = content["metadata"]
            metadata |= {"uid": dice.uuid(), "creationTimestamp": written_time(now)}
            store.create(place.key, content)
