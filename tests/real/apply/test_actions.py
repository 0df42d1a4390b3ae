"""Actions of the Kubernetes stage on a real kube-apiserver with a real controller manager.

Every one is done once, repeated, and killed between any two of its calls.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from stockman.kubernetes.objects import ResourceKind, ServerSideApply
from stockman.model.errors import Rejected
from stockman.steps.kubernetes.chart import InstallChart
from stockman.steps.kubernetes.crds import InstallCrds
from stockman.steps.kubernetes.flux import Reconcile
from stockman.steps.kubernetes.objects import FLUX
from stockman.steps.ports import Ports
from tests.planning.bootstrapped import Killed
from tests.real.apply.api_scene import (
    ACTIONS,
    READS,
    TOGETHER,
    Cluster,
    install_of,
    left,
    mortal,
    named,
    performed,
)


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_is_done_once_and_survives_its_process(name: str, cluster_api: Cluster) -> None:
    async def story(ports: Ports) -> None:
        action = await ACTIONS[name](ports, 0)
        watched, door = mortal(ports, None)
        assert not await action.done(ports)
        await action.run(watched)
        assert await action.done(ports)
        again, reader = mortal(ports, None)
        await performed(action, again)
        assert set(reader.calls) <= READS
        await action.run(ports)
        assert await action.done(ports)
        await _killed_everywhere(name, ports, len(door.calls))
        assert await left(ports) == []

    cluster_api(story)


async def _killed_everywhere(name: str, ports: Ports, total: int) -> None:
    died: list[int] = []

    async def killed(calls: int) -> None:
        action = await ACTIONS[name](ports, calls + 1)
        dying, _ = mortal(ports, calls)
        try:
            await action.run(dying)
        except Killed:
            died.append(calls)
        await performed(action, ports)

    points = range(min(total, MOST))
    if name in TOGETHER:
        await asyncio.gather(*(killed(calls) for calls in points))
    else:
        for calls in points:
            await killed(calls)
    # How often an action looks while it waits depends on how fast the servers are.
    assert len(died) >= min(total, MOST) // 2


MOST = 24
"""Calls after which an action only waits."""


def test_definitions_are_established_by_whoever_is_not_killed(cluster_api: Cluster) -> None:
    action = InstallCrds(bundle="gateway-api", version="v1.6.1")

    async def story(ports: Ports) -> None:
        for calls in (0, 1, 2, 5, 9):
            with pytest.raises(Killed):
                await action.run(mortal(ports, calls)[0])
        assert not await action.done(ports)
        await performed(action, ports)
        again, door = mortal(ports, None)
        await performed(action, again)
        assert set(door.calls) <= READS
        served = await ports.to_kubernetes().find_kind("gateway.networking.k8s.io/v1", "Gateway")
        assert served is not None

    cluster_api(story)


def test_a_chart_that_helm_cannot_install_leaves_nothing(cluster_api: Cluster) -> None:
    cluster_api.keepers.fails = "broken"
    quick = replace(install_of("broken"), seconds=60)

    async def story(ports: Ports) -> None:
        with pytest.raises(Rejected, match=r"kube\.install-failed"):
            await InstallChart(install=quick).run(ports)
        assert await left(ports) == []

    cluster_api(story)


@pytest.mark.parametrize("kind", FLUX, ids=lambda one: one.name)
def test_flux_is_asked_and_heard(kind: ResourceKind, cluster_api: Cluster) -> None:
    source = {"kind": "GitRepository", "name": "one"}
    specs: dict[str, dict[str, Any]] = {
        "FluxInstance": {"distribution": {"version": "2.x", "registry": "ghcr.io/fluxcd"}},
        "GitRepository": {"interval": "1h", "url": "https://example.org/one.git"},
        "OCIRepository": {"interval": "1h", "url": "oci://example.org/one"},
        "HelmRepository": {"interval": "1h", "url": "https://example.org/charts"},
        "Kustomization": {"interval": "1h", "path": ".", "prune": True, "sourceRef": source},
        "HelmRelease": {"interval": "1h", "chartRef": {"kind": "OCIRepository", "name": "one"}},
    }

    async def story(ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        name = "flux" if kind.name == "FluxInstance" else "one"
        about = named(kind.api_version, kind.name, name, "default")
        await kubernetes.apply(kind, ServerSideApply(content={**about, "spec": specs[kind.name]}))
        for number in range(2):
            reconcile = Reconcile(of=kind, namespace="default", name=name, request=f"noon {number}")
            assert not await reconcile.done(ports)
            with pytest.raises(Killed):
                await reconcile.run(mortal(ports, number)[0])
            await performed(reconcile, ports)
            again, door = mortal(ports, None)
            await performed(reconcile, again)
            assert set(door.calls) <= READS

    cluster_api(story)
