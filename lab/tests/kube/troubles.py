"""Trouble for clusters in tests, set as a user of the command line sets it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stockman_lab.commands.runtime.faults import Wanted, faults_of, wanted_fault
from stockman_lab.core.faults import Fault
from stockman_lab.core.saved import restored
from stockman_lab.kube.api.messages import User
from stockman_lab.kube.helm.chart import newest
from stockman_lab.kube.helm.engine import Helm, ReleaseSpec
from stockman_lab.kube.helm.writer import Writer
from stockman_lab.talos.machine import Machine
from stockman_lab.world.world import World

from lab.tests.kube.calling import KubeAsking
from lab.tests.kube.nodes.running import condition
from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged

CORE = "/api/v1/namespaces/default"
PODS = f"{CORE}/pods"
NODES = "/api/v1/nodes"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
LABELS = {"app": "web"}
BEARS = [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]
SPEC: dict[str, Any] = {
    "tolerations": BEARS,
    "containers": [{"name": "web", "image": "example/web:1"}],
}


class Troubled(KubeAsking):
    """A cluster of Talos machines, and what goes wrong in it."""

    def __init__(self, world: World | None = None) -> None:
        super().__init__(world or staged("three-node"))

    def let(self, point: str, effect: str, *match: str, **how: Any) -> int:
        """`stockman lab fault POINT EFFECT --match ...`; returns the number of the fault."""
        desired = Wanted(point=point, effect=effect, match=match, **how)
        return self._strike(wanted_fault(desired, self.world.now))

    def let_file(self, file: Path) -> None:
        """`stockman lab fault --file FILE`."""
        for fault in faults_of(str(file)):
            self._strike(fault)

    def _strike(self, told: dict[str, object]) -> int:
        fault = self.world.faults.add(restored(Fault, told))
        self.world.strike()
        return fault.number

    def take_back(self, number: int) -> None:
        self.world.take_back(number)
        self.world.settle()

    def get(self, path: str) -> Any:
        return self.ask("GET", path)[1]

    def make(self, path: str, **body: Any) -> Any:
        """A new object, and what comes of it."""
        status, result = self.ask("POST", path, body)
        assert status == 201, result
        self.world.settle()
        return result

    def patch(self, path: str, change: object) -> Any:
        self.headers = {"content-type": "application/merge-patch+json"}
        status, patch = self.ask("PATCH", path, change)
        self.headers = {}
        assert status == 200, patch
        return patch

    def install(self, chart: str, namespace: str, key: str, **values: Any) -> None:
        """`helm install --create-namespace`, and what comes of it."""
        cluster = self.world.kubernetes.cluster_of(self.machine)
        result = newest(key)
        assert cluster is not None
        assert result is not None
        user = User("admin", ("system:masters",))
        helm = Helm(Writer(cluster.api, "Helm/4.1.0", user), lambda: self.world.now)
        release_spec = ReleaseSpec(chart, namespace, result, values, create_namespace=True)
        release = helm.begin_install(release_spec)
        self.world.settle()
        helm.finish(release)

    def run(self, replicas: int = 3, **spec: Any) -> None:
        """A workload on all machines."""
        spread = {
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": LABELS},
            "maxSkew": 1,
            "whenUnsatisfiable": "ScheduleAnyway",
        }
        pod = {**SPEC, "topologySpreadConstraints": [spread], **spec}
        template = {"metadata": {"labels": LABELS}, "spec": pod}
        desired = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template}
        self.make(DEPLOYMENTS, metadata={"name": "web"}, spec=desired)

    def budget(self, **spec: Any) -> None:
        body = {"selector": {"matchLabels": LABELS}, **spec}
        self.make(BUDGETS, metadata={"name": "web"}, spec=body)

    def pods_on(self, name: str) -> list[Any]:
        result = self.get(PODS)["items"]
        return [item for item in result if item["spec"].get("nodeName") == name]

    def evict(self, name: str) -> tuple[int, Any]:
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        return self.ask("POST", f"{PODS}/{name}/eviction", body)

    def node(self, name: str) -> Any:
        return self.get(f"{NODES}/{name}")

    def ready(self, name: str) -> str:
        return str(condition(self.node(name), "Ready")["status"])

    def found(self, name: str) -> Machine:
        return machine(self.world, name)

    def reboot(self, name: str) -> None:
        Asking(self.world, self.found(name)).call("Reboot")
        self.world.settle()

    def is_on(self, name: str) -> bool:
        return self.found(name).state.is_on

    def notes(self, name: str) -> list[str]:
        """What a machine wrote into the log of its kernel."""
        lines = self.found(name).state.kernel_log
        return [line.text.removeprefix("[talos] ") for line in lines]
