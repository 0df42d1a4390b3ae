"""What stands in etcd as soon as Kubernetes runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman.lab.etcd.client import EtcdClient
from stockman.lab.etcd.errors import EtcdError
from stockman.lab.etcd.seeded import SeededNode, Surroundings, add_node, seed
from stockman.lab.talos import etcd_member

if TYPE_CHECKING:
    from stockman.lab.etcd.cluster import EtcdCluster
    from stockman.lab.talos.machine import Machine

_FIRST = b"/registry/namespaces/default"


def seed_kubernetes(machine: Machine) -> None:
    """Put the first objects into the etcd of a machine, where there are none yet."""
    cluster, config = etcd_member.cluster_of(machine), machine.config
    if cluster is None or config is None or not _is_missing(machine, cluster, _FIRST):
        return
    around = Surroundings(
        endpoint=config.endpoint,
        ca=config.k8s_ca.crt,
        service_cidr=next(iter(config.kubernetes.service_subnets), "10.96.0.0/12"),
    )
    dice, now = machine.land.around.dice, machine.now
    seed(cluster.keyspace, around, (), dice, now)
    _add_roles(machine, cluster)


def _add_roles(machine: Machine, cluster: EtcdCluster) -> None:
    """What a server sees to when it starts."""
    from stockman.lab.kube.access.builtin_roles import add_builtin_roles
    from stockman.lab.kube.store.store import Store

    client = EtcdClient(cluster, etcd_member.alive(machine.land, cluster), machine.now)
    add_builtin_roles(Store(lambda: client), machine.land.around.dice, machine.now)


def register(machine: Machine) -> None:
    """Put the Node of a machine in, where it is missing."""
    cluster = next(
        (
            found
            for one in machine.land.controllers(machine)
            if (found := etcd_member.cluster_of(one)) is not None and etcd_member.has_quorum(one)
        ),
        None,
    )
    config = machine.config
    if cluster is None or config is None:
        return
    if not _is_missing(machine, cluster, f"/registry/minions/{machine.hostname}".encode()):
        return
    node = SeededNode(
        name=machine.hostname,
        address=machine.address,
        kubelet=config.kubelet.image.rpartition(":")[2],
        talos=machine.version,
        is_controller=machine.is_controlplane,
        uuid=machine.state.uuid,
        labels=dict(config.node_labels),
    )
    add_node(cluster.keyspace, node, machine.land.around.dice, machine.now)


def _is_missing(machine: Machine, cluster: EtcdCluster, key: bytes) -> bool:
    client = EtcdClient(cluster, etcd_member.alive(machine.land, cluster), machine.now)
    try:
        return not client.range(key).items
    except EtcdError:
        return False
