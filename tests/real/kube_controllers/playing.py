"""The same objects in a real cluster and in one of the lab, with pods that a test makes ready."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

from stockman_lab.core.dice import Dice
from stockman_lab.core.timeline import Arguments, Timeline, TimelineState
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.cluster import EtcdCluster, EtcdMember
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.api.surroundings import Settings
from stockman_lab.kube.controllers.manager import Controllers
from stockman_lab.kube.controllers.state import ControllersState

from stockman.adapters.system import SystemClock
from tests.real.kube_api.talking import NETWORK, LabApi, RealApi, Step, Told, plain
from tests.real.rendered.api_server import TOKEN, ApiServer
from tests.real.waiting import rest
from tools.pytest_plugin import RealTool

CLOCK = SystemClock()
QUIET = timedelta(milliseconds=250)
LONG_STILL = timedelta(milliseconds=500)
JOB_QUIET = timedelta(milliseconds=1400)
"""Jobs look at pods that ended once in a second."""
LONG_QUIET = timedelta(milliseconds=7000)
"""Namespaces that are not empty yet are looked at again after some seconds."""
LONGEST_WAIT = timedelta(seconds=60)
_MOMENT = 0.02
_ANSWERS = 20
"""Nothing has to move for as long as so many answers take: everybody is slow on a busy machine."""
BEGIN = 1_790_000_000.0
SECONDS = 8.0
"""How long the lab may take until nothing moves any longer."""
OFTEN = frozenset({"FailedBinding", "NoPods"})
"""Reasons of events that the real controllers tell again from time to time."""
EITHER = frozenset({"NewReplicaSetCreated", "ReplicaSetUpdated"})
"""Reasons of which the real controllers leave one or the other, by who is faster."""
KINDS = (
    ("apis/apps/v1", "replicasets"),
    ("apis/apps/v1", "controllerrevisions"),
    ("apis/apps/v1", "deployments"),
    ("apis/apps/v1", "statefulsets"),
    ("apis/apps/v1", "daemonsets"),
    ("apis/batch/v1", "jobs"),
    ("apis/batch/v1", "cronjobs"),
    ("apis/policy/v1", "poddisruptionbudgets"),
    ("apis/discovery.k8s.io/v1", "endpointslices"),
    ("api/v1", "pods"),
    ("api/v1", "endpoints"),
    ("api/v1", "persistentvolumeclaims"),
    ("api/v1", "serviceaccounts"),
    ("api/v1", "configmaps"),
    ("api/v1", "events"),
)


class Side(Protocol):
    """One of the two clusters."""

    codes: dict[str, str]
    """Hashes that were seen, by the number of the revision that has them."""

    def ask(self, step: Step) -> Told: ...

    def settle(self, quiet: timedelta = QUIET) -> None:
        """Wait for a while at least, and until nothing moves any longer."""


class RealSide:
    """A real API server with a real controller manager."""

    def __init__(self, api: RealApi) -> None:
        self._api = api
        self.codes: dict[str, str] = {}

    def ask(self, step: Step) -> Told:
        return self._api.ask(step)

    def settle(self, quiet: timedelta = QUIET) -> None:
        end = CLOCK.now() + LONGEST_WAIT
        begin = since = CLOCK.now()
        last, still = "", QUIET
        while CLOCK.now() - begin < quiet or CLOCK.now() - since < still:
            assert CLOCK.now() < end, "the cluster never comes to rest"
            asked = CLOCK.now()
            seen_now = self._revision()
            if seen_now != last:
                last, since = seen_now, CLOCK.now()
            still = min(max(still, _ANSWERS * (CLOCK.now() - asked)), LONG_STILL)
            rest(_MOMENT)

    def _revision(self) -> str:
        """The revision of the whole etcd, as every list tells it."""
        found = self.ask(Step("GET", "/api/v1/namespaces/default/secrets?limit=1"))
        return str(found.content["metadata"]["resourceVersion"])


class LabSide:
    """The API server and the controllers of the lab on one timeline."""

    def __init__(self) -> None:
        member = EtcdMember("one", ["http://127.0.0.1:2380"], started=True, has_data=True)
        cluster = EtcdCluster("1", members={"1": member})
        self.timeline = Timeline(TimelineState(now=BEGIN), self._happen)
        api = Api(
            lambda: EtcdClient(cluster, ["1"], self.timeline.now),
            Dice(7),
            Settings(service_network=NETWORK),
        )
        self._api = LabApi(api)
        self.codes: dict[str, str] = {}
        self._controllers = Controllers(
            api, ControllersState(), self.timeline, Dice(5), root_ca=lambda: "CERTIFICATE\n"
        )
        for name in ("default", "kube-system", "kube-public", "kube-node-lease"):
            self.ask(Step("POST", "/api/v1/namespaces", {"metadata": {"name": name}}))
        self.settle()

    def _happen(self, name: str, arguments: Arguments) -> None:
        self._controllers.happen(name, arguments)

    def ask(self, step: Step) -> Told:
        return self._api.ask(step)

    def settle(self, quiet: timedelta = QUIET) -> None:
        del quiet
        self.timeline.run_until(self.timeline.now + SECONDS)


@contextmanager
def controller_manager(place: Path, server: ApiServer, real_tool: RealTool) -> Iterator[RealSide]:
    """A real controller manager while it runs."""
    (place / "ca.crt").write_bytes((place / "certificates" / "apiserver.crt").read_bytes())
    command = (
        real_tool("kube-controller-manager"),
        f"--kubeconfig={place / 'kubeconfig'}",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        "--secure-port=0",
        f"--service-account-private-key-file={place / 'sa.key'}",
        f"--root-ca-file={place / 'ca.crt'}",
        "--node-monitor-grace-period=200s",
    )
    with (place / "controllers.log").open("w") as output_file:
        process = subprocess.Popen(command, stdout=output_file, stderr=subprocess.STDOUT)
        api = RealApi(server.port, TOKEN)
        try:
            yield RealSide(api)
        finally:
            api.close()
            process.terminate()
            process.wait()


# -- what is there, without what is different each time ----------------------------------------

_SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]{5}"
_HASHES = ("pod-template-hash", "controller-revision-hash", "controller.kubernetes.io/hash")


def seen(side: Side, space: str) -> dict[str, list[Any]]:
    """Everything in a namespace."""
    found = {}
    for base, plural in KINDS:
        answer = side.ask(Step("GET", f"/{base}/namespaces/{space}/{plural}"))
        found[plural] = answer.content["items"]
    space_told = side.ask(Step("GET", f"/api/v1/namespaces/{space}"))
    found["namespaces"] = [{"metadata": {}, **space_told.content}]
    text = json.dumps(found)
    side.codes |= _codes(found)
    for code, name in sorted(side.codes.items(), key=lambda one: -len(one[0])):
        text = text.replace(code, name)
    text = re.sub(rf"(HASH\d+)-{_SUFFIX}\b", r"\1-X", text)
    text = re.sub(rf"(pod: [-\w]+-){_SUFFIX}\b", r"\1X", text)
    text = re.sub(rf'("name": "[-\w]+-){_SUFFIX}"', r'\1X"', text)
    text = re.sub(r'\.[0-9a-f]{16}"', '.T"', text)
    text = re.sub(r"10\.42\.\d+\.\d+", "PLACE", text)
    text = re.sub(r'("ca.crt": ")[^"]*', r"\1CERTIFICATE", text)
    made: dict[str, list[Any]] = json.loads(text)
    return {plural: _sorted(items) for plural, items in made.items()}


def _codes(found: dict[str, list[Any]]) -> dict[str, str]:
    """Hashes by the number of the revision that has them."""
    codes = {}
    for one in (*found["replicasets"], *found["controllerrevisions"]):
        about = one["metadata"]
        number = one.get("revision") or about["annotations"]["deployment.kubernetes.io/revision"]
        for label in _HASHES:
            if label in about["labels"]:
                codes[about["labels"][label]] = f"HASH{number}"
    return codes


def _sorted(items: list[Any]) -> list[Any]:
    for one in items:
        one["metadata"].pop("managedFields", None)
        status = one.get("status")
        for condition in (status.get("conditions") or []) if isinstance(status, dict) else []:
            if condition.get("reason") in EITHER:
                condition |= {"reason": "MOVES", "message": "MOVES"}
        if one.get("reason") in OFTEN:
            one["count"] = "OFTEN"
        for endpoint in one.get("endpoints") or []:
            endpoint.get("targetRef", {}).pop("uid", None)
        if one.get("endpoints"):
            one["endpoints"].sort(key=lambda each: json.dumps(plain(each)))
        for subset in one.get("subsets") or []:
            for name in ("addresses", "notReadyAddresses"):
                if name in subset:
                    subset[name].sort(key=lambda each: json.dumps(plain(each)))
    return sorted((plain(one) for one in items), key=lambda one: json.dumps(one, sort_keys=True))


def waiting_pods(side: Side, space: str) -> list[str]:
    """Pods that no kubelet has seen."""
    items = side.ask(Step("GET", f"/api/v1/namespaces/{space}/pods")).content["items"]
    return [one["metadata"]["name"] for one in items if one["status"]["phase"] == "Pending"]


def make_ready(side: Side, space: str, name: str, number: int) -> None:
    """Do what a kubelet would do with a new pod."""
    place = f"10.42.0.{number + 10}"
    status = {
        "phase": "Running",
        "podIP": place,
        "podIPs": [{"ip": place}],
        "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        ],
    }
    _patch_status(side, f"/api/v1/namespaces/{space}/pods/{name}", status)


def end_pods(side: Side, space: str, phase: str) -> None:
    """Let all pods that have not ended come to an end."""
    path = f"/api/v1/namespaces/{space}/pods"
    for pod in side.ask(Step("GET", path)).content["items"]:
        if pod["status"]["phase"] not in {"Succeeded", "Failed"}:
            ended = {"exitCode": 0, "finishedAt": "2026-01-01T00:00:00Z"}
            container = {"name": "one", "image": "wool:1.0", "imageID": "", "ready": False}
            container |= {"restartCount": 0, "state": {"terminated": ended}}
            status = {"phase": phase, "containerStatuses": [container]}
            _patch_status(side, f"{path}/{pod['metadata']['name']}", status)


def bind_pods(side: Side, space: str) -> None:
    """Put all pods on the node of the namespace."""
    path = f"/api/v1/namespaces/{space}/pods"
    for pod in side.ask(Step("GET", path)).content["items"]:
        if not pod["spec"].get("nodeName"):
            name = pod["metadata"]["name"]
            body = {"metadata": {"name": name}, "target": {"kind": "Node", "name": f"{space}-a"}}
            assert side.ask(Step("POST", f"{path}/{name}/binding", body)).status == 201


def _patch_status(side: Side, path: str, status: dict[str, Any]) -> None:
    kind = "application/merge-patch+json"
    told = side.ask(Step("PATCH", f"{path}/status", {"status": status}, kind))
    assert told.status in {200, 404}, told.content
