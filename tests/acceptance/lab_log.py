"""What a world itself wrote down: how often everything was done with effect."""

from __future__ import annotations

import json
from collections import Counter

from stockman_lab.etcd.cluster import EtcdCluster
from stockman_lab.world.world import World

from stockman.etcd.records import KeyValue, read_key_value

_ONCE = ("jobs/", "namespaces/", "secrets/")
"""Kinds of which each object is made once, by the beginnings of keys."""

_SAME_AGAIN = frozenset({"resize", "hastart", "imgcopy", "imgdel"})
"""Tasks that have no effect the second time: Proxmox VE returns where a disk has the size that is
asked for, and we ask for a size and never for more of it; high availability is told that a guest
should run, which it starts once. An image with a configuration is replaced where an upload was
interrupted, because it may hold other secrets."""

_SMOKE_TEST = "-test"
"""End of the names of objects of smoke tests, which are deleted and may be created again."""


def done_with_effect(world: World) -> Counter[str]:
    """Tasks of Proxmox VE that came to a good end, objects that were made, etcds that began."""
    counter: Counter[str] = Counter()
    for cluster in world.clusters.values():
        for upid, task in cluster.state.tasks.items():
            kind, about = upid.split(":")[5:7]
            if task.exit_status == "OK" and kind not in _SAME_AGAIN:
                counter[f"task {kind} {about}"] += 1
    for etcd in world.state.talos.etcd.values():
        counter["etcd began"] += 1
        for name, made in creations(etcd).items():
            if name.startswith(_ONCE) and not name.endswith(_SMOKE_TEST):
                counter[f"created {name}"] += made
    return counter


def creations(etcd: EtcdCluster) -> Counter[str]:
    """How often each key of Kubernetes came into being."""
    counter: Counter[str] = Counter()
    for item in history(etcd):
        if item.version == 1 and item.mod_revision == item.create_revision:
            counter[item.key.decode().removeprefix("/registry/")] += 1
    return counter


def history(etcd: EtcdCluster) -> list[KeyValue]:
    """Everything that was ever put and is not compacted yet."""
    return [read_key_value(value) for value in etcd.keyspace.values]


def written_by(etcd: EtcdCluster, manager: str, since: int) -> list[str]:
    """Objects that somebody wrote after a revision, by their field managers."""
    found = []
    for item in history(etcd):
        if item.mod_revision <= since or not item.value:
            continue
        fields = json.loads(item.value).get("metadata", {}).get("managedFields", [])
        if any(field.get("manager") == manager for field in fields):
            found.append(item.key.decode())
    return found
