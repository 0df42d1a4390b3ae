"""What a world has come to, without moments and without what was thrown by dice."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator

from stockman_lab.etcd.cluster import EtcdCluster
from stockman_lab.pve.cluster import Cluster
from stockman_lab.world.world import World

from stockman.etcd.records import KeyValue

_RANDOM = re.compile(r"-[0-9a-z]{5}$|-[0-9a-f]{8,10}-[0-9a-z]{5}$|-[0-9a-f]{8,10}$|\.[0-9a-f]{16}$")
_PASSING = ("events/", "leases/", "masterleases/", "certificatesigningrequests/", "ranges/")
_REPORTS = "fluxcd.controlplane.io/fluxreports/"
"""What comes and goes by itself, by the beginnings of keys."""
_OWN_DICE = frozenset({"meta", "vmgenid", "digest"})
"""Keys of guests in which a moment or chance stands."""
_UNSTEADY = frozenset({"pods", "endpointslices", "controllerrevisions", "replicasets", "minions"})
"""Kinds of which only the names are compared: their content tells when and where."""
_VERSION = re.compile(r"(sh\.helm\.release\.v1\..*)\.v[0-9]+$")


_SETTLES = 180.0
"""Seconds after which everything is gone that is on its way out."""


def fingerprint(world: World) -> dict[str, str]:
    """Everything that lasts, by name; equal where two worlds came to the same end.

    A while passes in the world first, so that nothing is under way any more.
    """
    world.advance(_SETTLES)
    entries: dict[str, str] = {}
    for cluster in world.clusters.values():
        entries |= dict(_proxmox(cluster))
    for machine in world.talos.machines:
        state = machine.state
        name = f"machine/{state.vmid}"
        entries[name] = f"{state.stage.value} {state.version} on {state.node} as {machine.hostname}"
        entries[f"{name}/config"] = _digest(state.config)
        entries[f"{name}/boots"] = str(state.boot)
    for number, etcd in enumerate(world.state.talos.etcd.values()):
        entries[f"etcd/{number}"] = ", ".join(
            sorted(member.name for member in etcd.members.values())
        )
        entries |= dict(_kubernetes(etcd))
    return entries


def _proxmox(cluster: Cluster) -> Iterator[tuple[str, str]]:
    state = cluster.state
    for vmid, guest in state.guests.items():
        values = {key: text for key, text in guest.config.values.items() if key not in _OWN_DICE}
        yield f"vm/{vmid}", f"{guest.node} {guest.status} {sorted(values.items())}"
    for volume in state.volumes:
        yield f"volume/{volume}", "there"
    for kind, entries in (("resource", state.ha_resources), ("rule", state.ha_rules)):
        for name, entry in entries.items():
            yield f"ha/{kind}/{name}", f"{entry.options} {entry.lists}"
    access = state.access
    for name, user in access.users.items():
        yield f"user/{name}", f"{sorted(user.tokens)}"
    for name, role in access.roles.items():
        yield f"role/{name}", str(sorted(role))
    for path, node in access.acl.items():
        yield f"acl/{path}", f"{node.users} {node.groups} {node.tokens}"


def _kubernetes(etcd: EtcdCluster) -> Iterator[tuple[str, str]]:
    names: Counter[str] = Counter()
    for item in latest(etcd):
        key = item.key.decode().removeprefix("/registry/")
        if key.startswith((*_PASSING, _REPORTS)):
            continue
        kind, _, key_end = key.partition("/")
        name = _VERSION.sub(r"\1", key_end)
        names[f"{kind}/{_RANDOM.sub('', name)}"] += 1
        if kind not in _UNSTEADY and "helm.release" not in name:
            yield f"kubernetes/{key}", _stable_digest(item.value)
    for name, count in names.items():
        yield f"count of {name}", str(count)


def latest(etcd: EtcdCluster) -> list[KeyValue]:
    """Every key that is there."""
    return etcd.keyspace.range(b"/registry/", b"/registry0").items


def _stable_digest(value: bytes) -> str:
    """What somebody wants of an object: everything but what servers fill in."""
    try:
        content = json.loads(value)
    except ValueError:
        return _digest(value)
    metadata = content.get("metadata", {})
    return _digest(
        json.dumps(
            {
                "labels": metadata.get("labels"),
                "spec": _without_dice(content.get("spec")),
                "rules": content.get("rules"),
                "type": content.get("type"),
                "keys": sorted(content.get("data") or {}),
            },
            sort_keys=True,
        ).encode()
    )


_DICE = frozenset({"clusterIP", "clusterIPs", "nodePort", "caBundle", "healthCheckNodePort"})


def _without_dice(content: object) -> object:
    if isinstance(content, dict):
        return {key: _without_dice(value) for key, value in content.items() if key not in _DICE}
    if isinstance(content, list):
        return [_without_dice(item) for item in content]
    return content


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def difference(first: dict[str, str], second: dict[str, str]) -> list[str]:
    """What differs, in lines."""
    return [
        f"{name}: {first.get(name, '(nothing)')[:300]} | {second.get(name, '(nothing)')[:300]}"
        for name in sorted(first.keys() | second.keys())
        if first.get(name) != second.get(name)
    ]
