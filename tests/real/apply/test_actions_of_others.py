"""Others write to a real kube-apiserver as well: what is theirs stays theirs."""

from __future__ import annotations

from typing import Any

import pytest

from stockman.adapters.system import SystemClock
from stockman.engine.lock import ClusterLease, LockHolder
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import (
    CONFIG_MAPS,
    NAMESPACES,
    SECRETS,
    SERVICE_ACCOUNTS,
    ObjectRef,
    ResourceKind,
    ServerSideApply,
)
from stockman.model.errors import Refused
from stockman.steps.kubernetes.chart import install_names
from stockman.steps.kubernetes.objects import object_name, text_at
from stockman.steps.ports import Ports
from tests.real.apply.api_scene import (
    ACTIONS,
    SECRET,
    Cluster,
    Later,
    install_of,
    left,
    named,
)


async def _theirs(ports: Ports, kind: ResourceKind, content: dict[str, Any]) -> ObjectRef:
    server_side_apply = ServerSideApply(content=content, manager="somebody", force=True)
    made = await ports.to_kubernetes().apply(kind, server_side_apply)
    namespace = text_at(made, "metadata", "namespace")
    return ObjectRef(kind=kind, name=object_name(made), namespace=namespace)


def _foreign(name: str, number: int) -> tuple[ResourceKind, dict[str, Any]]:
    """An object that is in the way of an action."""
    match name:
        case "namespace":
            content = named("v1", "Namespace", f"wool-{number}")
            content["metadata"]["labels"] = {"wool": "black"}
            return NAMESPACES, content
        case "map":
            content = named("v1", "ConfigMap", f"map-{number}", "default")
            return CONFIG_MAPS, {**content, "data": {"a": "theirs"}}
        case "secret":
            content = named("v1", "Secret", f"secret-{number}", "default")
            return SECRETS, {**content, "data": {"age.agekey": "dGhlaXJz"}}
    account = install_names(install_of(f"cilium-{number}")).account
    return SERVICE_ACCOUNTS, named("v1", "ServiceAccount", account.name, account.namespace)


@pytest.mark.parametrize("name", ["namespace", "map", "secret", "chart"])
def test_what_somebody_else_owns_is_theirs(name: str, cluster_api: Cluster) -> None:
    number = 900

    async def story(ports: Ports) -> None:
        action = await ACTIONS[name](ports, number)
        ref = await _theirs(ports, *_foreign(name, number))
        before = await ports.to_kubernetes().get(ref)
        for _ in range(2):
            assert not await action.done(ports)
            with pytest.raises(Refused) as caught:
                await action.run(ports)
            assert caught.value.problem.code == "kube.foreign"
            assert "managed by" in caught.value.problem.why
            assert SECRET not in str(caught.value.problem)
        assert await ports.to_kubernetes().get(ref) == before
        await ports.to_kubernetes().delete(ref)
        assert await left(ports) == []

    cluster_api(story)


def test_of_two_runs_one_has_the_lease_until_it_is_over(cluster_api: Cluster) -> None:
    async def own_runs() -> tuple[str, ...]:
        return ()

    def lease(kubernetes: KubernetesClient, name: str, clock: SystemClock | Later) -> ClusterLease:
        holder = LockHolder(name=name, run=name, nonce="1")
        return ClusterLease(kubernetes, clock, holder, own_runs)

    async def first(ports: Ports) -> None:
        anna = lease(ports.to_kubernetes(), "anna", SystemClock())
        bert = lease(ports.to_kubernetes(), "bert", SystemClock())
        await anna.check()
        await anna.check()
        with pytest.raises(Refused, match=r"lock\.lost"):
            await bert.check()
        await anna.release()
        await bert.check()  # and is killed

    async def later(ports: Ports) -> None:
        carl = lease(ports.to_kubernetes(), "carl", Later())
        await carl.check()
        await carl.release()

    cluster_api(first)
    cluster_api(later, Later())
