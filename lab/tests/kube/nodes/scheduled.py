"""Cases of the scheduler, run in the lab from the request to the binding."""

from __future__ import annotations

import json
from typing import Any

from stockman_lab.core.dice import Dice
from stockman_lab.core.timeline import Timeline, TimelineState
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.cluster import EtcdCluster, EtcdMember
from stockman_lab.kube.api.messages import Request, User
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.api.surroundings import Settings
from stockman_lab.kube.controllers.manager import Controllers
from stockman_lab.kube.controllers.state import ControllersState
from stockman_lab.kube.nodes.scheduler import Scheduler

from lab.tests.kube.nodes.placements import PRIORITIES, Case

NOW = 1_790_000_000.0
PODS = "/api/v1/namespaces/default/pods"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"


class Lab:
    """An API server with a scheduler and nothing else."""

    def __init__(self) -> None:
        member = EtcdMember("1", ["http://127.0.0.1:2380"], started=True, has_data=True)
        cluster = EtcdCluster("1", members={"1": member})
        self.timeline = Timeline(TimelineState(now=NOW), self._happen)
        self.api = Api(
            lambda: EtcdClient(cluster, ["1"], self.timeline.now),
            Dice(7),
            Settings(demands_accounts=False),
        )
        self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
        state = ControllersState()
        self._controllers = Controllers(self.api, state, self.timeline, Dice(3), kinds=(Scheduler,))

    def _happen(self, name: str, arguments: dict[str, object]) -> None:
        self._controllers.happen(name, arguments)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        sent = b"" if body is None else json.dumps(body).encode()
        headers = {"user-agent": "test", "content-type": "application/json"}
        user = User("admin", ("system:masters",))
        answer = self.api.handle(Request(method, path, {}, headers, sent, user))
        assert answer.status < 300, answer.body
        return json.loads(answer.body)


def placed(case: Case) -> tuple[str, dict[str, str], str]:
    """The node of the pod, its condition, and the event about it."""
    lab = Lab()
    for priority in PRIORITIES:
        lab.ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", priority)
    for priority in case.nodes:
        lab.ask("POST", "/api/v1/nodes", priority)
        lab.ask("PUT", f"/api/v1/nodes/{priority['metadata']['name']}", priority)
    for priority in case.claims:
        lab.ask("POST", CLAIMS, priority)
    for priority in case.others:
        lab.ask("POST", PODS, priority)
    lab.ask("POST", PODS, case.pod)
    lab.timeline.run_all()
    name = case.pod["metadata"]["name"]
    found = lab.ask("GET", f"{PODS}/{name}")
    node = found["spec"].get("nodeName", "")
    events = lab.ask("GET", "/api/v1/namespaces/default/events")["items"]
    texts = [
        event["message"]
        for event in events
        if (event["involvedObject"]["name"], event["reason"]) == (name, "FailedScheduling")
    ]
    return node, said(found), "" if node else texts[0]


def said(pod: Any) -> dict[str, str]:
    """What a pod says of its place, without moments."""
    condition = next(one for one in pod["status"]["conditions"] if one["type"] == "PodScheduled")
    return {name: one for name, one in condition.items() if name != "lastTransitionTime"}
