"""The lab's scheduler decides as the real kube-scheduler does, and says the same of it."""

from __future__ import annotations

import json
import ssl
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from stockman_lab.kube.nodes.scheduling.deciding import Decision, Scheduling
from stockman_lab.kube.nodes.scheduling.picture import Picture

from lab.tests.kube.nodes.placements import CASES, PRIORITIES, Case, admitted, pod
from lab.tests.kube.nodes.scheduled import CLAIMS, placed, said
from tests.real.rendered.api_server import TOKEN, ApiServer, api_server
from tests.real.waiting import wait_until
from tools.pytest_plugin import RealTool

PODS = "/api/v1/namespaces/default/pods"
_UNVERIFIED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_UNVERIFIED.check_hostname = False
_UNVERIFIED.verify_mode = ssl.CERT_NONE


class Cluster:
    """A real API server with a real scheduler."""

    def __init__(self, address: str) -> None:
        self._address = address

    def ask(self, method: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            self._address + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, context=_UNVERIFIED, timeout=20) as answer:
                return json.load(answer)
        except HTTPError as why:
            return {"failed": why.code, **json.loads(why.read())}

    def stage(self, case: Case) -> None:
        """Make the nodes and the pods on them, and wait until the scheduler knows them.

        A server adds a taint to every node that is new, so that they are written twice.
        """
        for priority in PRIORITIES:
            self.ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", priority)
        for priority in case.nodes:
            made = self.ask("POST", "/api/v1/nodes", priority)
            assert "failed" not in made, made
            self.ask("PUT", f"/api/v1/nodes/{priority['metadata']['name']}", priority)
        for priority in case.claims:
            self.ask("POST", CLAIMS, priority)
        for priority in case.others:
            made = self.ask("POST", PODS, priority)
            assert "failed" not in made, made
        last = case.nodes[-1]["metadata"]["name"]
        fields = [{"key": "metadata.name", "operator": "In", "values": [last]}]
        terms = [{"matchFields": fields}]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        scout = pod(
            "scout",
            tolerations=[{"operator": "Exists"}],
            affinity={"nodeAffinity": required},
        )
        made = self.ask("POST", PODS, scout)
        assert "failed" not in made, made
        self._until_placed("scout")
        self.ask("DELETE", f"{PODS}/scout?gracePeriodSeconds=0")

    def _until_placed(self, name: str) -> Any:
        seen: list[Any] = []

        def is_placed() -> bool:
            seen[:] = [self.ask("GET", f"{PODS}/{name}")]
            return bool(seen[0]["status"].get("conditions"))

        wait_until(is_placed, lambda: f"the scheduler says nothing of {name}")
        return seen[0]

    def place(self, case: Case) -> tuple[str, dict[str, str], str]:
        """The node of the pod, its condition, and the event about it."""
        made = self.ask("POST", PODS, case.pod)
        assert "failed" not in made, made
        found = self._until_placed(case.pod["metadata"]["name"])
        node = found["spec"].get("nodeName", "")
        return node, said(found), "" if node else self._event(case.pod["metadata"]["name"])

    def _event(self, name: str) -> str:
        """The first one about a pod; it comes a little after the condition."""
        told: list[str] = []

        def is_told() -> bool:
            for one in self.ask("GET", "/api/v1/namespaces/default/events")["items"]:
                about = one["involvedObject"]["name"], one["reason"]
                if about == (name, "FailedScheduling"):
                    told.append(str(one.get("message") or one.get("note")))
            return bool(told)

        wait_until(is_told, lambda: f"no event about {name}")
        return told[0]

    def clear(self) -> None:
        self.ask("DELETE", f"{PODS}?gracePeriodSeconds=0")
        self.ask("DELETE", "/api/v1/nodes")
        self.ask("DELETE", "/api/v1/namespaces/default/events")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[Cluster]:
    mktemp = tmp_path_factory.mktemp("scheduled")
    with api_server(mktemp, real_tool) as server, scheduler(mktemp, server, real_tool):
        config = json.loads((mktemp / "kubeconfig").read_text())
        yield Cluster(config["clusters"][0]["cluster"]["server"])


@contextmanager
def scheduler(place: Path, server: ApiServer, real_tool: RealTool) -> Iterator[None]:
    config = place / "kubeconfig"
    command: list[str | Path] = [
        real_tool("kube-scheduler"),
        f"--kubeconfig={config}",
        f"--authentication-kubeconfig={config}",
        f"--authorization-kubeconfig={config}",
        "--bind-address=127.0.0.1",
        "--secure-port=0",
        "--leader-elect=false",
        f"--cert-dir={place / 'scheduler'}",
        "-v=10",
    ]
    with (place / "scheduler.log").open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def decided(case: Case) -> Decision:
    """All nodes that the lab could take; the real one throws dice among equals."""
    others = [
        {**admitted(one), "metadata": {**one["metadata"], "uid": one["metadata"]["name"]}}
        for one in case.others
    ]
    return Scheduling(Picture(case.nodes, others)).decide(admitted(case.pod))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_lab_decides_as_the_real_scheduler_does(cluster: Cluster, case: Case) -> None:
    cluster.stage(case)
    try:
        real_node, real_condition, real_event = cluster.place(case)
    finally:
        cluster.clear()
    node, condition, event = placed(case)
    assert condition == real_condition
    assert event == real_event or real_node
    if real_node:
        best = decided(case).best
        assert {real_node, node} <= set(best)
    else:
        assert not node
