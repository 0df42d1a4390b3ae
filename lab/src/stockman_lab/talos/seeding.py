"""What stands in etcd as soon as Kubernetes runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.etcd.seeded import seed_server
from stockman_lab.talos import etcd_member

if TYPE_CHECKING:
    from stockman_lab.etcd.cluster import EtcdCluster
    from stockman_lab.talos.machine import Machine

_FIRST = b"/registry/namespaces/default"


def seed_kubernetes(machine: Machine) -> None:
    """Put the first objects into the etcd of a machine, where there are none yet."""
    cluster, config = etcd_member.cluster_of(machine), machine.config
    if cluster is None or config is None or not _is_missing(machine, cluster, _FIRST):
        return
    network = next(iter(config.kubernetes.service_subnets), "10.96.0.0/12")
    seed_server(cluster.keyspace, network, machine.land.around.dice, machine.now)


def _is_missing(machine: Machine, cluster: EtcdCluster, key: bytes) -> bool:
    client = EtcdClient(cluster, etcd_member.alive(machine.land, cluster), machine.now)
    try:
        return not client.range(key).items
    except EtcdError:
        return False
