"""The Kubernetes clusters of a world: an API and controllers on every etcd that is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stockman_lab.core.timeline import Arguments
from stockman_lab.etcd import quorum
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.kube.access.roles import add_builtin_roles
from stockman_lab.kube.api.admission_context import Settings
from stockman_lab.kube.api.messages import Request, Response, User
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.controllers.client import Client
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.manager import Controllers, ControllersState
from stockman_lab.kube.controllers.node_lifecycle import NodeLifecycle
from stockman_lab.kube.controllers.registry import CONTROLLERS
from stockman_lab.kube.flux.registry import flux_controllers
from stockman_lab.kube.nodes import leases
from stockman_lab.kube.nodes.draining import Draining
from stockman_lab.kube.nodes.kubelet import NODE, usual_outcome
from stockman_lab.kube.nodes.manifests import apply_manifests, manifest_groups
from stockman_lab.kube.nodes.own_objects import ServerPlace, keep_own_objects
from stockman_lab.kube.nodes.pod_running import Outcomes
from stockman_lab.kube.nodes.setup import NodeSetup
from stockman_lab.kube.nodes.talos_access import Access, TalosAccounts, access_of
from stockman_lab.kube.nodes.talos_host import TalosHost
from stockman_lab.kube.objects import metadata_of
from stockman_lab.talos import etcd_member
from stockman_lab.talos.cosi.facts import nodename
from stockman_lab.talos.status import has_static_pods

if TYPE_CHECKING:
    from stockman_lab.etcd.cluster import EtcdCluster
    from stockman_lab.talos.config.effective_record import Effective
    from stockman_lab.talos.fleet import Fleet
    from stockman_lab.talos.machine import Machine
from stockman_lab.kube.flux.helm_release import HelmReleases
from stockman_lab.kube.flux.instance import FluxInstances
from stockman_lab.kube.helm.acknowledging import Acknowledging, Operators
from stockman_lab.kube.helm.jobs import HelmJobs
from stockman_lab.kube.helm.load_balancers import LoadBalancers
from stockman_lab.kube.nodes.host import Hosts
from stockman_lab.kube.nodes.kubelet import Kubelets
from stockman_lab.kube.nodes.provisioning import StorageDrivers, VolumeProvisioners
from stockman_lab.kube.nodes.scheduler import Scheduler


def silent_since(hosts: Hosts, notes: dict[str, str], name: str, now: float) -> float | None:
    """The moment when a kubelet was first missed, noted the first time. None: it can be heard."""
    host = hosts.host(name)
    key = f"silent {name}"
    if host is not None and host.is_alive:
        notes.pop(key, None)
        return None
    return float(notes.setdefault(key, str(now)))


def program_controllers(hosts: Hosts) -> tuple[type[Controller], ...]:
    """What Helm, operators and Flux's releases do in one cluster."""
    return (
        type("HelmJobsOfCluster", (HelmJobs,), {"hosts": hosts}),
        Operators,
        Acknowledging,
        LoadBalancers,
        FluxInstances,
        HelmReleases,
    )


def node_controllers(
    hosts: Hosts, outcomes: Outcomes = usual_outcome
) -> tuple[type[Controller], ...]:
    """Scheduler, kubelets, what new nodes get, and storage drivers."""
    told = {"hosts": hosts, "outcomes": staticmethod(outcomes)}
    return (
        Scheduler,
        type("KubeletsOfCluster", (Kubelets,), told),
        type("SetupOfCluster", (NodeSetup,), {"hosts": hosts}),
        StorageDrivers,
        VolumeProvisioners,
    )


_OLDEST = "v1.30.0"


def settings_of(config: Effective) -> Settings:
    """How a machine with a configuration starts its API server."""
    kubernetes = config.kubernetes
    return Settings(
        service_network=next(iter(kubernetes.service_subnets), "10.96.0.0/12"),
        version=kubernetes.version or _OLDEST,
        address=config.endpoint.partition("://")[2],
    )


class TalosHosts:
    """The machines of one cluster."""

    def __init__(self, land: Fleet, cluster: EtcdCluster) -> None:
        self._land = land
        self._cluster = cluster
        self._seen = -1
        self._by_name: dict[str, TalosHost] = {}

    def controllers(self) -> list[Machine]:
        """Control plane machines with power."""
        every = self._land.all_controllers()
        return [content for content in every if etcd_member.cluster_of(content) is self._cluster]

    def host(self, name: str) -> TalosHost | None:
        """The machine of a Node. None: it has no power, or there is none."""
        return self._known().get(name)

    def hosts(self) -> list[TalosHost]:
        return list(self._known().values())

    def _known(self) -> dict[str, TalosHost]:
        if self._seen != self._land.changes:
            self._seen = self._land.changes
            first = next(iter(self.controllers()), None)
            group = self._land.group(first) if first is not None else []
            group = sorted(group, key=lambda item: item.key)
            self._by_name = {nodename(item): TalosHost(item) for item in group if nodename(item)}
        return self._by_name


class KubernetesCluster:
    """One cluster."""

    def __init__(  # noqa: PLR0913  # all that a cluster is made of
        self,
        land: Fleet,
        cluster: EtcdCluster,
        state: ControllersState,
        kinds: tuple[type[Controller], ...],
        outcomes: Outcomes,
        repositories: Mapping[str, str],
    ) -> None:
        around = land.around
        self.land, self.cluster, self.keyspace = land, cluster, cluster.keyspace
        self.hosts = TalosHosts(land, cluster)
        self.api = Api(self.connect, around.dice, self._settings())
        own = (
            *node_controllers(self.hosts, outcomes),
            *program_controllers(self.hosts),
            *flux_controllers(lambda: repositories),
        )
        self._notes = state.notes
        self.controllers = Controllers(
            self.api,
            state,
            around.timeline,
            around.dice,
            cluster=cluster.id,
            is_served=self.is_served,
            root_ca=self._root_ca,
            silent_since=self.silent_since,
            kinds=(*kinds, *own, self._accounts()),
        )
        self.draining = Draining(self.api, around.timeline)

    def connect(self) -> EtcdClient:
        """A client of its etcd, for one request."""
        return EtcdClient(self.cluster, self._alive, self.land.now)

    def _alive(self) -> set[str]:
        return etcd_member.alive(self.land, self.cluster)

    def _accounts(self) -> type[Controller]:
        return type("AccountsOfCluster", (TalosAccounts,), {"access": staticmethod(self._access)})

    def _access(self) -> Access | None:
        accesses = (access_of(controller) for controller in self.hosts.controllers())
        return next((access for access in accesses if access is not None), None)

    def _root_ca(self) -> str:
        config = self._config()
        return "" if config is None else config.k8s_ca.crt

    def handle(self, request: Request) -> Response:
        """The answer to a request of somebody who may do everything."""
        self.freshen(request)
        return self.api.handle(request)

    def freshen(self, request: Request) -> None:
        """See to it that who reads signs of life finds them as fresh as they would be."""
        if request.method != "GET" or not self.is_served():
            return
        if "/leases" in request.path:
            self._renew_leases()
        if any(item in request.path for item in ("/leases", "/endpoints", "/endpointslices")):
            self.keep_own_objects()

    def keep_own_objects(self) -> None:
        """See to it that objects tell where API servers are."""
        servers = [
            ServerPlace(controller.hostname, controller.address)
            for controller in self.hosts.controllers()
            if has_static_pods(controller) and controller.is_reachable
        ]
        keep_own_objects(self.api, servers, self.land.now)

    def _renew_leases(self) -> None:
        client = Client(self.api, "kubelet", User("system:node", ("system:masters",)))
        objects = self.controllers.objects
        for host in self.hosts.hosts():
            node = objects.get("nodes", host.name)
            if node is not None and host.is_alive:
                leases.renew(objects, client, node, self.land.now)

    def _config(self) -> Effective | None:
        first = next(iter(self.hosts.controllers()), None)
        return first.config if first is not None else None

    def _settings(self) -> Settings:
        config = self._config()
        return Settings() if config is None else settings_of(config)

    def is_served(self) -> bool:
        """Whether one of its API servers answers."""
        return any(
            has_static_pods(all_controller)
            and all_controller.is_reachable
            and etcd_member.cluster_of(all_controller) is self.cluster
            for all_controller in self.land.all_controllers()
        ) and quorum.has_quorum(self.cluster, self._alive())

    def notice(self, machine: Machine) -> None:
        """Have its Node looked at."""
        name = nodename(machine)
        host = self.hosts.host(name) if name else None
        if host is not None and host.is_alive and self.is_served():
            self.draining.open_again(machine)
        if name:
            self.controllers.look_at("kubelet", f"{NODE}{name}")
            self._look_at_node(name)

    def silent_since(self, name: str) -> float | None:
        """When the kubelet of a node was first missed. None: it can be heard."""
        return silent_since(self.hosts, self._notes, name, self.land.now)

    def _look_at_node(self, name: str) -> None:
        for controller in (NodeLifecycle.name, NodeSetup.name):
            self.controllers.look_at(controller, name)

    def miss(self) -> None:
        """Have Nodes looked at whose machines are not there."""
        for node in self.controllers.objects.listed("nodes"):
            name = str(metadata_of(node)["name"])
            if self.hosts.host(name) is None:
                self._look_at_node(name)

    def notice_all(self) -> None:
        """Have all Nodes looked at, as after the API came back."""
        for host in self.hosts.hosts():
            self.notice(host.machine)
        self.controllers.notice()


class Kubernetes:
    """All clusters of a world; what `KubernetesSide` means to machines."""

    def __init__(
        self,
        land: Fleet,
        states: dict[str, ControllersState],
        *,
        kinds: tuple[type[Controller], ...] = CONTROLLERS,
        outcomes: Outcomes = usual_outcome,
        repositories: Mapping[str, str] | None = None,
    ) -> None:
        self._land = land
        self._repositories = {} if repositories is None else repositories
        self._states = states
        self._kinds = kinds
        self._outcomes = outcomes
        self._clusters: dict[str, KubernetesCluster] = {}

    def cluster(self, name: str) -> KubernetesCluster | None:
        """The cluster on an etcd, by the id of that. None: there is no such etcd."""
        cluster = self._clusters.get(name)
        etcd = self._land.state.etcd.get(name)
        if etcd is None:
            return None
        if cluster is None or cluster.cluster is not etcd or cluster.keyspace is not etcd.keyspace:
            if cluster is not None:
                cluster.controllers.retire()
            state = self._states.setdefault(name, ControllersState())
            cluster = KubernetesCluster(
                self._land, etcd, state, self._kinds, self._outcomes, self._repositories
            )
            self._clusters[name] = cluster
        return cluster

    def _all(self) -> list[KubernetesCluster]:
        """Every cluster that has begun, also where nobody has asked for it since it was loaded."""
        clusters = (self.cluster(name) for name in tuple(self._states))
        return [cluster for cluster in clusters if cluster is not None]

    def cluster_of(self, machine: Machine) -> KubernetesCluster | None:
        """The cluster that a machine belongs to. None: there is none yet."""
        for controller in self._land.controllers(machine):
            etcd = etcd_member.cluster_of(controller)
            if etcd is not None:
                return self.cluster(etcd.id)
        return None

    def notice(self, machine: Machine) -> None:
        """Something happened to a machine."""
        cluster = self.cluster_of(machine)
        if cluster is not None and nodename(machine):
            cluster.notice(machine)
            return
        for item in self._all():
            item.miss()

    def served(self, machine: Machine) -> None:
        """The API server of a machine began to answer: what Talos brings is applied."""
        cluster = self.cluster_of(machine)
        if cluster is not None and cluster.is_served():
            add_builtin_roles(cluster.api.store, self._land.around.dice, self._land.now)
            cluster.keep_own_objects()
            apply_manifests(cluster.api, machine)
            cluster.notice_all()

    def listed(self, machine: Machine, plural: str) -> Sequence[Mapping[str, object]]:
        """Objects of a built-in kind of a machine's cluster."""
        cluster = self.cluster_of(machine)
        return () if cluster is None else cluster.api.context.listed(plural)

    def manifests(self, machine: Machine) -> Mapping[str, Sequence[Mapping[str, object]]]:
        """What a machine brings into its cluster, by name."""
        config = machine.config
        return {} if config is None else manifest_groups(machine, config)

    def drain(self, machine: Machine) -> bool:
        """Close a node and evict its pods."""
        cluster = self.cluster_of(machine)
        if cluster is None or not cluster.is_served():
            return False
        return cluster.draining.begin(machine)

    def happen(self, name: str, arguments: Arguments) -> None:
        """Something that was planned happens."""
        cluster = self.cluster(str(arguments["cluster"]))
        if cluster is None:
            return
        if name.startswith("kube.drain"):
            machine = self._land.by_key.get(str(arguments["machine"]))
            if machine is not None:
                cluster.draining.go_on(machine, arguments)
        else:
            cluster.controllers.happen(name, arguments)
