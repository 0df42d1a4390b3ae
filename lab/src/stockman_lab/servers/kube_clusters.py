"""The API servers of a world's clusters: one for each etcd, whichever machine is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stockman_lab.kube.access.front import Front, Trusted
from stockman_lab.kube.api.admission_context import Settings
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.clusters.clusters import settings_of
from stockman_lab.kube.store.stale import StaleStore
from stockman_lab.talos import etcd_member

if TYPE_CHECKING:
    from stockman_lab.kube.clusters.clusters import Kubernetes, KubernetesCluster
    from stockman_lab.kube.store.store import Store
    from stockman_lab.talos.config.effective_record import Effective
    from stockman_lab.talos.fleet import Fleet
    from stockman_lab.talos.machine import Machine


class NoCluster(Exception):
    """A machine that has no Kubernetes."""


class KubeClusters:
    """Makes servers when they are first asked for; all of a cluster have one store."""

    def __init__(self, land: Fleet, kubernetes: Callable[[], Kubernetes]) -> None:
        self._land = land
        self._kubernetes = kubernetes
        self._served: dict[tuple[str, Settings, str], Front] = {}
        self._recalled: dict[tuple[int, str], int] = {}

    def cluster(self, machine: Machine) -> KubernetesCluster:
        """The cluster of a control plane machine; raises `NoCluster`."""
        etcd = etcd_member.cluster_of(machine)
        cluster = None if etcd is None else self._kubernetes().cluster(etcd.id)
        if cluster is None:
            raise NoCluster(machine.hostname)
        return cluster

    def front(self, machine: Machine) -> Front:
        """The server that answers on a machine; raises `NoCluster`."""
        cluster, config = self.cluster(machine), machine.config
        if config is None:
            raise NoCluster(machine.hostname)
        settings = settings_of(config)
        ids = cluster.cluster.id, settings, config.service_account_key
        known = self._served.get(ids)
        if known is None or known.api.store is not cluster.api.store:
            known = self._served[ids] = self._made(cluster, config, cluster.api.store)
        return known

    def stale(self, machine: Machine, number: int) -> Front:
        """The same as it was when the fault with a number was first met; raises `NoCluster`."""
        cluster, config = self.cluster(machine), machine.config
        if config is None:
            raise NoCluster(machine.hostname)
        rows = number, cluster.cluster.id
        revision = self._recalled.setdefault(rows, cluster.api.store.revision(cached=True))
        return self._made(cluster, config, StaleStore(cluster.connect, revision))

    def ring(self) -> None:
        """Wake those who watch: something may have been written, or it has become later."""
        for store in {id(one.api.store): one.api.store for one in self._served.values()}.values():
            store.bell.ring()

    def _made(self, cluster: KubernetesCluster, config: Effective, store: Store) -> Front:
        api = Api(store.connect, self._land.around.dice, settings_of(config), store=store)
        api.subresources |= cluster.api.subresources
        return Front(api, Trusted(config.service_account_key, config.endpoint))
