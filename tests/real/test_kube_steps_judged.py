"""Actions of the Kubernetes stage on a real kube-apiserver, over HTTPS.

No controller runs there: what a Job, Helm and Flux would do is written by the test meanwhile.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from stockman.adapters.kubernetes.transport import HttpKubernetes, endpoint_from_kubeconfig
from stockman.adapters.system import SystemClock, SystemTimekeeper
from stockman.engine.observe.kubernetes import KubernetesQuery, observe_kubernetes
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import JOBS, NODES, SECRETS, MergePatch, ObjectRef, ServerSideApply
from stockman.model.errors import Refused, Rejected
from stockman.steps.kubernetes.chart import ChartInstall, InstallChart, install_names
from stockman.steps.kubernetes.crds import InstallCrds
from stockman.steps.kubernetes.flux import Reconcile
from stockman.steps.kubernetes.nodes import Cordon, DeleteNode
from stockman.steps.kubernetes.objects import (
    DEFINITIONS,
    KUSTOMIZATIONS,
    ROLE_BINDINGS,
    object_name,
    object_uid,
    text_at,
)
from stockman.steps.kubernetes.resources import ApplyNamespace, ApplySecret, SecretEntry
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from tests.real.rendered.api_server import TOKEN, api_server
from tests.real.rendered.definitions import definitions, installed
from tests.steps.kube_cluster import Dice, Pockets
from tools.pytest_plugin import RealTool

Meanwhile = Callable[[KubernetesClient], Awaitable[None]]
CILIUM = ChartInstall(
    release="cilium",
    namespace="kube-system",
    source="oci://quay.io/cilium/charts/cilium",
    version="1.20.1",
    values=json.dumps({"operator": {"replicas": 1}}),
)
MOMENT = "2026-08-01T12:00:00Z"
_SHORT = 0.05


async def nothing(_: KubernetesClient) -> None:
    """Nobody does anything."""


class Playing:
    """A clock; while somebody waits, others act."""

    def __init__(self, kubernetes: KubernetesClient, meanwhile: Meanwhile) -> None:
        self._kubernetes = kubernetes
        self._meanwhile = meanwhile

    def now(self) -> datetime:
        return SystemClock().now()

    async def sleep(self, seconds: float) -> None:
        await self._meanwhile(self._kubernetes)
        await SystemTimekeeper().sleep(min(seconds, _SHORT))


class Door:
    """The way to the server."""

    def __init__(self, place: Path) -> None:
        content = json.loads((place / "kubeconfig").read_text())
        cluster = content["clusters"][0]["cluster"]
        del cluster["insecure-skip-tls-verify"]
        cluster["certificate-authority"] = "certificates/apiserver.crt"
        content["users"][0]["user"] = {"token": TOKEN}
        self._file = place / "trusting"
        self._file.write_text(json.dumps(content))

    def __call__(
        self, story: Callable[[Ports], Awaitable[None]], meanwhile: Meanwhile = nothing
    ) -> None:
        async def told() -> None:
            async with HttpKubernetes(
                endpoint_from_kubeconfig(self._file), SystemClock()
            ) as kubernetes:
                ports = Ports(
                    clock=Playing(kubernetes, meanwhile),
                    entropy=Dice(),
                    kubernetes=kubernetes,
                    secrets=Pockets(here="a secret"),
                )
                await story(ports)

        asyncio.run(told())


@pytest.fixture(scope="module")
def door(real_tool: RealTool) -> Iterator[Door]:
    with (
        TemporaryDirectory() as temporary_directory,
        api_server(Path(temporary_directory), real_tool),
    ):
        yield Door(Path(temporary_directory))


def ended(kind: str, before: str, **more: object) -> Meanwhile:
    """What the controller of Jobs and helm write when a Job ends."""

    async def meanwhile(kubernetes: KubernetesClient) -> None:
        conditions = [
            {"type": one, "status": "True", "lastTransitionTime": MOMENT, **more}
            for one in (before, kind)
        ]
        status: dict[str, object] = {"startTime": MOMENT, "conditions": conditions}
        if kind == "Complete":
            status |= {"succeeded": 1, "completionTime": MOMENT}
            labels = {"owner": "helm", "name": "cilium", "status": "deployed", "version": "1"}
            secret = {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {
                    "name": "sh.helm.release.v1.cilium.v1",
                    "namespace": "kube-system",
                    "labels": labels,
                },
                "type": "helm.sh/release.v1",
            }
            await kubernetes.apply(SECRETS, ServerSideApply(content=secret, manager="Helm"))
        patch = MergePatch(changes={"status": status}, subresource="status")
        await kubernetes.patch(install_names(CILIUM).job, patch)

    return meanwhile


async def left(ports: Ports) -> list[str]:
    kubernetes = ports.to_kubernetes()
    bindings = (await kubernetes.objects(ROLE_BINDINGS)).items
    jobs = [one for one in (await kubernetes.objects(JOBS)).items if not _leaves(one)]
    return [one for one in map(object_name, (*bindings, *jobs)) if one.startswith("stockman-")]


def _leaves(content: object) -> bool:
    return isinstance(content, dict) and "deletionTimestamp" in content["metadata"]


def test_definitions_of_the_gateway_api_are_served(door: Door) -> None:
    action = InstallCrds(bundle="gateway-api", version="v1.6.1")

    async def story(ports: Ports) -> None:
        assert not await action.done(ports)
        await action.run(ports)
        assert await action.done(ports)
        served = await ports.to_kubernetes().find_kind("gateway.networking.k8s.io/v1", "Gateway")
        assert served is not None

    door(story)


def test_a_job_that_fails_is_told_and_leaves_nothing(door: Door) -> None:
    async def story(ports: Ports) -> None:
        with pytest.raises(Rejected) as caught:
            await InstallChart(install=CILIUM).run(ports)
        assert caught.value.problem.code == "kube.install-failed"
        assert "BackoffLimitExceeded: enough" in caught.value.problem.why
        assert await left(ports) == []

    failed = ended("Failed", "FailureTarget", reason="BackoffLimitExceeded", message="enough")
    door(story, failed)


def test_a_chart_is_installed_once(door: Door) -> None:
    action = InstallChart(install=CILIUM)

    async def story(ports: Ports) -> None:
        assert not await action.done(ports)
        await action.run(ports)
        assert await action.done(ports)
        assert await left(ports) == []

    door(story, ended("Complete", "SuccessCriteriaMet"))


def test_a_secret_of_somebody_else_is_not_overwritten(door: Door) -> None:
    action = ApplySecret(
        namespace="flux-system",
        name="sops-age",
        entries=(SecretEntry(key="age.agekey", value=SecretRef(place="here")),),
    )

    async def story(ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        namespace = ApplyNamespace(name="flux-system", labels={"wool": "white"})
        await namespace.run(ports)
        assert await namespace.done(ports)
        await action.run(ports)
        await action.run(ports)
        assert await action.done(ports)
        content = {**await kubernetes.get(action.ref), "data": {"age.agekey": "dGhlaXJz"}}
        metadata = {"name": "sops-age", "namespace": "flux-system"}
        server_side_apply = ServerSideApply(
            content={**content, "metadata": metadata}, manager="somebody", force=True
        )
        await kubernetes.apply(SECRETS, server_side_apply)
        assert not await action.done(ports)
        with pytest.raises(Refused) as caught:
            await action.run(ports)
        assert "its value differs for age.agekey; it is managed by somebody" in (
            caught.value.problem.why
        )
        assert "a secret" not in str(caught.value.problem)

    door(story)


def test_flux_is_asked_and_heard(door: Door) -> None:
    kind = (KUSTOMIZATIONS.api_version, KUSTOMIZATIONS.name)
    ref = ObjectRef(kind=KUSTOMIZATIONS, name="cluster-apps", namespace="default")
    spec = {
        "interval": "1h",
        "path": "./kubernetes/apps",
        "prune": True,
        "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
    }
    content = {
        "apiVersion": KUSTOMIZATIONS.api_version,
        "kind": "Kustomization",
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "spec": spec,
    }

    async def handled(kubernetes: KubernetesClient) -> None:
        text = text_at(
            await kubernetes.get(ref), "metadata", "annotations", "reconcile.fluxcd.io/requestedAt"
        )
        status = {"status": {"lastHandledReconcileAt": text}}
        await kubernetes.patch(ref, MergePatch(changes=status, subresource="status"))

    async def story(ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        for one in installed([definitions()[kind]]):
            await kubernetes.apply(DEFINITIONS, ServerSideApply(content=one))
        while not await kubernetes.serves(KUSTOMIZATIONS):
            await SystemTimekeeper().sleep(_SHORT)
        await kubernetes.apply(KUSTOMIZATIONS, ServerSideApply(content=content))
        reconcile = Reconcile(
            of=KUSTOMIZATIONS, namespace=ref.namespace, name=ref.name, request="noon"
        )
        await reconcile.run(ports)
        assert await reconcile.done(ports)

    door(story, handled)


def test_nodes_are_closed_opened_and_forgotten(door: Door) -> None:
    async def story(ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        made = await kubernetes.create(
            NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "work-1"}}
        )
        hold = Cordon(node="work-1", uid=object_uid(made))
        prior = await hold.prior(ports)
        await hold.take(ports)
        assert (await kubernetes.node("work-1")).unschedulable
        await hold.give_back(ports, prior)
        assert not (await kubernetes.node("work-1")).unschedulable
        removal = DeleteNode(node="work-1", uid=object_uid(made))
        await removal.run(ports)
        assert await removal.done(ports)

    door(story)


def test_one_look_reads_everything(door: Door) -> None:
    async def story(ports: Ports) -> None:
        seen = await observe_kubernetes(ports.to_kubernetes(), ports.clock, KubernetesQuery())
        assert seen.unknown == {}
        assert seen.version is not None
        assert {namespace.name for namespace in seen.namespaces or ()} >= {"default", "kube-system"}
        assert seen.flux is not None

    door(story)
