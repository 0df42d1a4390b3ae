"""A cluster of plain machines with a scheduler and kubelets, and short ways to ask it."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from stockman_lab.core.dice import Dice
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.core.timeline import Arguments, Timeline, TimelineState
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.cluster import EtcdCluster, EtcdMember
from stockman_lab.kube.api.messages import Request, User
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.clusters.clusters import node_controllers, program_controllers, silent_since
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.manager import Controllers, ControllersState
from stockman_lab.kube.controllers.node_lifecycle import NodeLifecycle
from stockman_lab.kube.controllers.taint_eviction import TaintEviction
from stockman_lab.kube.nodes.host import CloudWord, Description, PullFailed

NOW = 1_790_000_000.0
PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"
CERTIFICATE = "certificate of the authority"
ROOM = {"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "20Gi"}


@dataclass
class PlainHost:
    """A machine that does what a test says."""

    name: str
    is_alive: bool = True
    boot: str = "1"
    gpus: int = 0
    told: dict[str, Any] = field(default_factory=dict)
    statics: list[dict[str, Any]] = field(default_factory=list)
    images: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    faults: dict[str, Effect] = field(default_factory=dict)
    ready: bool = False
    complaint: str = ""
    cloud: CloudWord | None = None

    @property
    def start(self) -> str:
        return self.boot

    @property
    def address(self) -> str:
        return f"10.42.0.{self.name.removeprefix('n')}"

    def description(self) -> Description:
        supplied = {
            "labels": {"kubernetes.io/hostname": self.name},
            "addresses": (("InternalIP", self.address), ("Hostname", self.name)),
            "capacity": ROOM,
            "allocatable": ROOM,
            "info": {"kubeletVersion": "v1.36.3"},
            "pod_subnets": ("10.244.0.0/16",),
        }
        return Description(**{**supplied, **self.told})

    def in_proxmox(self, configuration: str) -> CloudWord | None:
        return self.cloud if configuration else None

    def pulled(self, image: str) -> float:
        if image in self.missing:
            raise PullFailed(f"{image}: not found")
        seconds = 0.0 if image in self.images else 4.0
        self.images.add(image)
        return seconds

    def static_pods(self) -> list[dict[str, Any]]:
        return self.statics

    def trouble(self, action: str, pod: dict[str, Any], image: str = "") -> Fault | None:
        effect = self.faults.get(action)
        return None if effect is None else Fault(Point.POD, effect, seconds=50.0)

    def noted(self, *, is_there: bool, is_ready: bool, is_closed: bool) -> None:
        self.ready = is_ready


@dataclass
class PlainHosts:
    """All of them."""

    by_name: dict[str, PlainHost]

    def host(self, name: str) -> PlainHost | None:
        return self.by_name.get(name)

    def hosts(self) -> list[PlainHost]:
        return list(self.by_name.values())


def _one_member() -> EtcdCluster:
    member = EtcdMember("1", ["http://127.0.0.1:2380"], started=True, has_data=True)
    return EtcdCluster("1", members={"1": member})


@dataclass
class Parts:
    """All that a cluster remembers, so that one can be made once and copied."""

    hosts: PlainHosts
    cluster: EtcdCluster = field(default_factory=_one_member)
    timeline: TimelineState = field(default_factory=lambda: TimelineState(now=NOW))
    state: ControllersState = field(default_factory=ControllersState)
    dice_of_api: Dice = field(default_factory=lambda: Dice(7))
    dice: Dice = field(default_factory=lambda: Dice(3))


class Running:
    """A cluster at work."""

    def __init__(
        self, *names: str, more: tuple[type[Controller], ...] = (NodeLifecycle, TaintEviction)
    ) -> None:
        self._take(Parts(PlainHosts({name: PlainHost(name) for name in names})))
        for name in ("default", "kube-system", "kube-node-lease"):
            self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
            accounts = f"/api/v1/namespaces/{name}/serviceaccounts"
            self.ask("POST", accounts, {"metadata": {"name": "default"}})
            trusted = {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": CERTIFICATE}}
            self.ask("POST", f"/api/v1/namespaces/{name}/configmaps", trusted)
        self._work(more)
        for name in names:
            self.look(name)

    def _take(self, parts: Parts) -> None:
        self._parts, self.hosts, self._notes = parts, parts.hosts, parts.state.notes
        self.timeline = Timeline(parts.timeline, self._happen)
        self.api = Api(
            lambda: EtcdClient(parts.cluster, ["1"], self.timeline.now), parts.dice_of_api
        )

    def _work(self, more: tuple[type[Controller], ...]) -> None:
        self.controllers = Controllers(
            self.api,
            self._parts.state,
            self.timeline,
            self._parts.dice,
            kinds=(*more, *node_controllers(self.hosts), *program_controllers(self.hosts)),
            silent_since=self._silent_since,
            root_ca=lambda: CERTIFICATE,
        )

    def kept(self) -> bytes:
        """Everything about it, to go on from there any number of times."""
        return pickle.dumps(self._parts)

    def _go_on(self, kept: bytes, more: tuple[type[Controller], ...]) -> None:
        self._take(pickle.loads(kept))  # noqa: S301  # this process wrote it
        self._work(more)

    def _silent_since(self, name: str) -> float | None:
        return silent_since(self.hosts, self._notes, name, self.timeline.now)

    def _happen(self, name: str, arguments: Arguments) -> None:
        self.controllers.happen(name, arguments)

    def look(self, name: str) -> None:
        """Something happened to a machine."""
        self.controllers.look_at("kubelet", f"@{name}")
        self.controllers.look_at(NodeLifecycle.name, name)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        return json.loads(self.answered(method, path, body))

    def text(self, path: str) -> str:
        """What is read, whatever it is."""
        return self.answered("GET", path).decode()

    def answered(self, method: str, path: str, body: object = None) -> bytes:
        parts = urlsplit(path)
        sent = b"" if body is None else json.dumps(body).encode()
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"user-agent": "kubectl/v1.36.3", "content-type": kind}
        user = User("admin", ("system:masters",))
        query = parse_qs(parts.query, keep_blank_values=True)
        return self.api.handle(Request(method, parts.path, query, headers, sent, user)).body

    def settle(self) -> None:
        self.timeline.run_all()

    def advance(self, seconds: float) -> None:
        self.timeline.run_until(self.timeline.now + seconds)

    def network(self) -> None:
        """A pod of the network on every machine."""
        for name in self.hosts.by_name:
            spec = {
                "nodeName": name,
                "hostNetwork": True,
                "tolerations": [{"operator": "Exists"}],
                "containers": [{"name": "net", "image": "example/cilium/cilium:v1"}],
            }
            body = {"metadata": {"name": f"net-{name}"}, "spec": spec}
            self.ask("POST", "/api/v1/namespaces/kube-system/pods", body)

    def pod(self, name: str = "one", **spec: Any) -> Any:
        """A new pod."""
        supplied = {"containers": [{"name": "main", "image": "example/program:1"}], **spec}
        pod = self.ask("POST", PODS, {"metadata": {"name": name}, "spec": supplied})
        assert pod["kind"] == "Pod", pod
        return pod

    def found(self, name: str = "one") -> Any:
        return self.ask("GET", f"{PODS}/{name}")

    def node(self, name: str = "n1") -> Any:
        return self.ask("GET", f"{NODES}/{name}")

    def events(self, name: str) -> list[tuple[str, str]]:
        items = self.ask("GET", "/api/v1/namespaces/default/events")["items"]
        return [
            (item["reason"], item["message"])
            for item in items
            if item["involvedObject"]["name"] == name
        ]


def condition(content: Any, name: str) -> Any:
    """One condition of an object."""
    return next(item for item in content["status"]["conditions"] if item["type"] == name)


def up(*names: str) -> Running:
    """A cluster whose nodes are ready."""
    running = Running(*(names or ("n1", "n2")))
    running.settle()
    running.network()
    running.settle()
    return running
