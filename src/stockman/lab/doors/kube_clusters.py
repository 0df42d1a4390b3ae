"""The API servers of a world's clusters: one for each etcd, whichever machine is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman.lab.etcd.client import EtcdClient
from stockman.lab.kube.access.front import Front, Trusted
from stockman.lab.kube.api.server import Api
from stockman.lab.kube.api.surroundings import Cluster, Settings
from stockman.lab.kube.store.stale import StaleStore
from stockman.lab.talos import etcd_member

if TYPE_CHECKING:
    from stockman.lab.etcd.cluster import EtcdCluster
    from stockman.lab.etcd.keyspace import Keyspace
    from stockman.lab.talos.config.effective_record import Effective
    from stockman.lab.talos.land import Land
    from stockman.lab.talos.machine import Machine

_OLDEST = "v1.30.0"


class NoCluster(Exception):
    """A machine that has no Kubernetes."""


@dataclass
class _Served:
    """A server, and for what it was made."""

    keyspace: Keyspace
    config: Effective
    front: Front


class KubeClusters:
    """Makes servers when they are first asked for, and again when there is another etcd."""

    def __init__(self, land: Land) -> None:
        self._land = land
        self._served: dict[str, _Served] = {}
        self._recalled: dict[tuple[int, str], int] = {}

    def front(self, machine: Machine) -> Front:
        """The server that answers on a machine; raises `NoCluster`."""
        cluster, config = etcd_member.cluster_of(machine), machine.config
        if cluster is None or config is None:
            raise NoCluster(machine.hostname)
        name = cluster.id
        known = self._served.get(name)
        if known is None or known.keyspace is not cluster.keyspace or known.config is not config:
            front = self._made(name, config)
            if known is not None:
                known.front.api.store.bell.ring()
                front.api.store.bell = known.front.api.store.bell
            known = self._served[name] = _Served(cluster.keyspace, config, front)
        return known.front

    def stale(self, machine: Machine, number: int) -> Front:
        """The same as it was when the fault with a number was first met; raises `NoCluster`."""
        front = self.front(machine)
        cluster = etcd_member.cluster_of(machine)
        name = "" if cluster is None else cluster.id
        revision = self._recalled.setdefault((number, name), front.api.store.revision(cached=True))
        config = machine.config
        if config is None:
            raise NoCluster(machine.hostname)
        made = self._made(name, config)
        made.api.store = StaleStore(lambda: self._client(name), revision)
        made.api.around = Cluster(made.api.store, self._land.around.dice, made.api.settings)
        return made

    def ring(self) -> None:
        """Wake those who watch: something may have been written, or it has become later."""
        for one in self._served.values():
            one.front.api.store.bell.ring()

    def _client(self, name: str) -> EtcdClient:
        cluster = self._cluster(name)
        return EtcdClient(cluster, etcd_member.alive(self._land, cluster), self._land.now)

    def _cluster(self, name: str) -> EtcdCluster:
        return next(one for one in self._land.state.etcd.values() if one.id == name)

    def _made(self, name: str, config: Effective) -> Front:
        version = config.kubernetes.version or _OLDEST
        settings = Settings(
            service_network=next(iter(config.kubernetes.service_subnets), "10.96.0.0/12"),
            version=version,
            address=config.endpoint.removeprefix("https://"),
        )
        api = Api(lambda: self._client(name), self._land.around.dice, settings)
        return Front(api, Trusted(config.service_account_key, config.endpoint))
