"""A cluster of the lab with its controllers, and a kubelet that tests play."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stockman_lab.core.dice import Dice
from stockman_lab.core.timeline import Arguments, Timeline, TimelineState
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.manager import Controllers, ControllersState
from stockman_lab.kube.controllers.registry import CONTROLLERS
from stockman_lab.kube.objects import written_time

from lab.tests.kube.asking import MERGE, Served, served

CORE = "/api/v1/namespaces/default"
APPS = "/apis/apps/v1/namespaces/default"
BATCH = "/apis/batch/v1/namespaces/default"
POLICY = "/apis/policy/v1/namespaces/default"
SELECTOR = {"matchLabels": {"app": "wool"}}


@dataclass
class Played:
    """A server, its controllers and their time."""

    server: Served
    state: ControllersState = field(default_factory=ControllersState)
    is_served: bool = True
    silent: dict[str, float] = field(default_factory=dict)
    """When kubelets of nodes were heard last."""
    root_ca: str = "CERTIFICATE\n"
    kinds: tuple[type[Controller], ...] = CONTROLLERS

    def __post_init__(self) -> None:
        self.timeline = Timeline(TimelineState(now=self.server.now), self._happen)
        self.begin()

    def begin(self) -> None:
        """Start the controllers, as after a world was loaded."""
        self.controllers = Controllers(
            self.server.api,
            self.state,
            self.timeline,
            Dice(3),
            is_served=lambda: self.is_served,
            root_ca=lambda: self.root_ca,
            silent_since=self.silent.get,
            kinds=self.kinds,
        )
        self.controllers.notice()

    def _happen(self, name: str, arguments: Arguments) -> None:
        self.server.now = self.timeline.now
        self.controllers.happen(name, arguments)

    def run(self, seconds: float = 5.0) -> None:
        """Let time pass."""
        self.timeline.run_until(self.timeline.now + seconds)
        self.server.now = self.timeline.now

    def _whole(self, path: str, body: object) -> object:
        """A custom object with what it is, which nobody may leave out."""
        _, root, *parts = path.partition("?")[0].split("/")
        if root != "apis" or not isinstance(body, dict) or "metadata" not in body:
            return body
        group, version, *rest = parts
        plural = rest[2] if rest[0] == "namespaces" and len(rest) > 2 else rest[0]
        resource = self.server.api.types.resource(group, version, plural)
        if resource is None or not resource.is_custom:
            return body
        return {"apiVersion": resource.api_version, "kind": resource.kind, **body}

    def ask(
        self, method: str, path: str, body: object = None, kind: str = "application/json"
    ) -> Any:
        """A request that is answered well, and some seconds after it."""
        answer = self.server.ask(method, path, self._whole(path, body), kind)
        assert self.server.last.status < 300, answer
        self.run()
        return answer

    def patch(self, path: str, change: object) -> Any:
        return self.ask("PATCH", path, change, MERGE)

    def get(self, path: str) -> Any:
        return self.server.ask("GET", path)

    def items(self, path: str) -> list[Any]:
        result: list[Any] = self.get(path)["items"]
        return result

    def names(self, path: str) -> list[str]:
        return [item["metadata"]["name"] for item in self.items(path)]

    def messages(self) -> list[str]:
        """What events say."""
        return [item["message"] for item in self.items(f"{CORE}/events")]

    # -- what a kubelet would do ---------------------------------------------------------------

    def make_ready(self, node: str = "") -> None:
        """All pods that wait run and are ready."""
        for number, pod in enumerate(self.items(f"{CORE}/pods")):
            if pod["status"]["phase"] == "Pending":
                name = pod["metadata"]["name"]
                if node:
                    body = {"metadata": {"name": name}, "target": {"name": node}}
                    self.server.ask("POST", f"{CORE}/pods/{name}/binding", body)
                ready = {"type": "Ready", "status": "True"}
                ready["lastTransitionTime"] = written_time(self.timeline.now)
                key = f"10.42.0.{number + 10}"
                self.tell(name, {"phase": "Running", "podIP": key, "conditions": [ready]})
        self.run()

    def end(self, phase: str) -> None:
        """All pods that run come to an end."""
        for pod in self.items(f"{CORE}/pods"):
            if pod["status"]["phase"] not in {"Succeeded", "Failed"}:
                self.tell(pod["metadata"]["name"], {"phase": phase})
        self.run()

    def tell(self, pod: str, status: dict[str, Any]) -> None:
        self.server.ask("PATCH", f"{CORE}/pods/{pod}/status", {"status": status}, MERGE)


def played(*others: type[Controller]) -> Played:
    result = Played(served(), kinds=(*CONTROLLERS, *others))
    result.run()
    return result


def template(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "one", "image": "wool:1"}]
    return {"metadata": {"labels": {"app": "wool"}}, "spec": {"containers": containers, **spec}}


def workload(name: str = "wool", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"selector": SELECTOR, "template": template(), **spec},
    }


def node(name: str, ready: str = "True", **labels: str) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": ready}]
    return {"metadata": {"name": name, "labels": labels}, "status": {"conditions": conditions}}
