"""A real kube-apiserver with a real controller manager, and actions that are judged there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stockman.adapters.kubernetes.transport import HttpKubernetes, endpoint_from_kubeconfig
from stockman.adapters.system import SystemClock, SystemTimekeeper
from stockman.kubernetes.objects import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    JOBS,
    NAMESPACES,
    NODES,
    SERVICE_ACCOUNTS,
    MergePatch,
    ObjectRef,
    ResourceKind,
    ServerSideApply,
)
from stockman.steps.base import Action
from stockman.steps.kubernetes.chart import ChartInstall, InstallChart
from stockman.steps.kubernetes.nodes import DeleteNode, DrainNode
from stockman.steps.kubernetes.objects import (
    DEFINITIONS,
    FLUX,
    ROLE_BINDINGS,
    object_name,
    object_uid,
    text_at,
)
from stockman.steps.kubernetes.resources import (
    ApplyConfigMap,
    ApplyNamespace,
    ApplySecret,
    SecretEntry,
)
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from tests.planning.bootstrapped import Mortal
from tests.real.apply.controller_manager import controller_manager
from tests.real.apply.keepers import PEN, Keepers, keepers
from tests.real.rendered.api_server import TOKEN, api_server
from tests.real.rendered.definitions import definitions, installed
from tests.steps.kube_cluster import Dice, Pockets, budget, web
from tests.steps.test_kube_flux import smoke_test, wanted
from tools.pytest_plugin import RealTool

SECRET = "a canary that nobody may see"
READS = {"get", "objects", "node", "nodes", "pods", "find_kind", "serves"}
_SHORT = 0.05
Story = Callable[[Ports], Awaitable[None]]


class Hurried:
    """A clock for those who wait for others: they do so in short whiles."""

    def now(self) -> datetime:
        return SystemClock().now()

    async def sleep(self, seconds: float) -> None:
        await SystemTimekeeper().sleep(min(seconds, _SHORT))


class Later:
    """The clock of somebody who comes when the others' leases are over."""

    def now(self) -> datetime:
        return SystemClock().now() + timedelta(seconds=90)


@dataclass
class Cluster:
    """The way to the server, and those who work there."""

    config: Path
    keepers: Keepers

    def __call__(self, story: Story, clock: SystemClock | Later | None = None) -> None:
        async def told() -> None:
            http_kubernetes = HttpKubernetes(
                endpoint_from_kubeconfig(self.config), clock or SystemClock()
            )
            async with http_kubernetes as kubernetes:
                secrets = Pockets(here=SECRET)
                ports = Ports(
                    clock=Hurried(), entropy=Dice(), kubernetes=kubernetes, secrets=secrets
                )
                await story(ports)

        asyncio.run(told())


@contextmanager
def cluster_api(real_tool: RealTool) -> Iterator[Cluster]:
    """The cluster while its programs run."""
    with ExitStack() as stack:
        path = Path(stack.enter_context(TemporaryDirectory()))
        server = stack.enter_context(api_server(path, real_tool, accounts=True))
        stack.enter_context(controller_manager(path, server, real_tool))
        cluster = Cluster(_trusting(path), stack.enter_context(keepers(server.port)))
        cluster(_furnished)
        yield cluster


def _trusting(place: Path) -> Path:
    content = json.loads((place / "kubeconfig").read_text())
    cluster = content["clusters"][0]["cluster"]
    del cluster["insecure-skip-tls-verify"]
    cluster["certificate-authority"] = "certificates/apiserver.crt"
    content["users"][0]["user"] = {"token": TOKEN}
    file = place / "trusting"
    file.write_text(json.dumps(content))
    return file


async def _furnished(ports: Ports) -> None:
    """A control plane node, one for pods of anybody, and the kinds of Flux."""
    await _node(ports, "control", {"node-role.kubernetes.io/control-plane": ""})
    await _node(ports, "common", {PEN: "default"})
    known = definitions()
    kubernetes = ports.to_kubernetes()
    for one in installed([known[kind.api_version, kind.name] for kind in FLUX]):
        await kubernetes.apply(DEFINITIONS, ServerSideApply(content=one))
    for kind in FLUX:
        while not await kubernetes.serves(kind):
            await ports.clock.sleep(_SHORT)


async def _node(ports: Ports, name: str, labels: dict[str, str]) -> str:
    content = {"metadata": {"name": name, "labels": {"kubernetes.io/os": "linux", **labels}}}
    made = await ports.to_kubernetes().create(
        NODES, {"apiVersion": "v1", "kind": "Node", **content}
    )
    return object_uid(made)


async def _namespace(_: Ports, number: int) -> Action:
    return ApplyNamespace(name=f"wool-{number}", labels={"wool": "white"})


async def _config_map(_: Ports, number: int) -> Action:
    return ApplyConfigMap(namespace="default", name=f"map-{number}", data={"a": "b"})


async def _secret(_: Ports, number: int) -> Action:
    entry = SecretEntry(key="age.agekey", value=SecretRef(place="here"))
    return ApplySecret(namespace="default", name=f"secret-{number}", entries=(entry,))


def install_of(release: str) -> ChartInstall:
    return ChartInstall(
        release=release,
        namespace="kube-system",
        source="oci://quay.io/cilium/charts/cilium",
        version="1.20.1",
        values=json.dumps({"operator": {"replicas": 1}}),
    )


async def _chart(_: Ports, number: int) -> Action:
    return InstallChart(install=install_of(f"cilium-{number}"))


async def _smoke_test(_: Ports, number: int) -> Action:
    name = f"tested-{number}"
    return replace(smoke_test(wanted(name), name=name), component=name)


async def _removal(ports: Ports, number: int) -> Action:
    name = f"old-{number}"
    return DeleteNode(node=name, uid=await _node(ports, name, {}))


async def _drain(ports: Ports, number: int) -> Action:
    """Of a node with two pods, of which a budget lets only one go at a time."""
    kubernetes, pen = ports.to_kubernetes(), f"pen-{number}"
    await kubernetes.create(NAMESPACES, named("v1", "Namespace", pen))
    uid = await _node(ports, f"{pen}-a", {PEN: pen})
    for kind, content in ((DEPLOYMENTS, web(2)), (_BUDGETS, budget(1))):
        about = named(kind.api_version, kind.name, "web", pen)
        await kubernetes.create(kind, {**about, "spec": content["spec"]})
    ref = ObjectRef(kind=DEPLOYMENTS, name="web", namespace=pen)
    while _available(await kubernetes.get(ref)) != 2:
        await ports.clock.sleep(_SHORT)
    await _node(ports, f"{pen}-b", {PEN: pen})
    closed = MergePatch(changes={"spec": {"unschedulable": True}})
    await kubernetes.patch(ObjectRef(kind=NODES, name=f"{pen}-a"), closed)
    return DrainNode(node=f"{pen}-a", uid=uid, seconds=60.0)


_BUDGETS = ResourceKind(
    api_version="policy/v1", name="PodDisruptionBudget", plural="poddisruptionbudgets"
)


def _available(content: Any) -> int:
    return int(content.get("status", {}).get("availableReplicas", 0))


def named(api: str, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata}


ACTIONS = {
    "namespace": _namespace,
    "map": _config_map,
    "secret": _secret,
    "chart": _chart,
    "smoke-test": _smoke_test,
    "removal": _removal,
    "drain": _drain,
}
TOGETHER = frozenset(ACTIONS)
"""Actions that may run in parallel."""


async def performed(action: Action, ports: Ports) -> None:
    """As the engine does it."""
    if not await action.done(ports):
        await action.run(ports)
        assert await action.done(ports)


def mortal(ports: Ports, calls: int | None) -> tuple[Ports, Mortal]:
    door = Mortal(ports.to_kubernetes())
    door.left = calls
    return replace(ports, kubernetes=door), door  # type: ignore[arg-type]  # every call is handed on


async def left(ports: Ports) -> list[str]:
    """What was made to install charts."""
    return [
        f"{kind.name} {object_name(one)}"
        for kind in (ROLE_BINDINGS, JOBS, CONFIG_MAPS, SERVICE_ACCOUNTS)
        for one in (await ports.to_kubernetes().objects(kind)).items
        if object_name(one).startswith("stockman-install-")
        and not text_at(one, "metadata", "deletionTimestamp")
    ]
