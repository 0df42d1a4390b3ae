"""Objects that stories are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import (
    CONFIG_MAPS,
    DISRUPTION_BUDGETS,
    PODS,
    MergePatch,
    Object,
    ObjectRef,
)
from tests.contract.kubernetes.doors import Stage


def config_map(
    stage: Stage, name: str, labels: Mapping[str, str] | None = None, **data: str
) -> Any:
    """A map of configuration."""
    metadata: dict[str, object] = {"name": name, "namespace": stage.namespace}
    if labels:
        metadata["labels"] = dict(labels)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": dict(data),
    }


def map_ref(stage: Stage, name: str) -> ObjectRef:
    return ObjectRef(kind=CONFIG_MAPS, name=name, namespace=stage.namespace)


def pod(stage: Stage, name: str, **labels: str) -> Any:
    """A pod with one container."""
    return {
        "metadata": {"name": name, "namespace": stage.namespace, "labels": labels},
        "spec": {
            "containers": [{"name": "web", "image": "web.invalid/web:1"}],
            "nodeName": "shelf-1",
        },
    }


async def running_pod(
    kubernetes: KubernetesClient, stage: Stage, name: str, **labels: str
) -> Object:
    """A pod that says that it runs and is ready."""
    await kubernetes.create(PODS, pod(stage, name, **labels))
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": None}]
    status = {"status": {"phase": "Running", "conditions": conditions}}
    ref = ObjectRef(kind=PODS, name=name, namespace=stage.namespace)
    return await kubernetes.patch(ref, MergePatch(changes=status, subresource="status"))


async def budget(kubernetes: KubernetesClient, stage: Stage, allowed: int) -> None:
    """A disruption budget whose controller has counted."""
    made = await kubernetes.create(
        DISRUPTION_BUDGETS,
        {
            "metadata": {"name": "web-budget", "namespace": stage.namespace},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        },
    )
    status = {
        "observedGeneration": metadata(made)["generation"],
        "disruptionsAllowed": allowed,
        "currentHealthy": 1,
        "desiredHealthy": 1,
        "expectedPods": 1,
    }
    ref = ObjectRef(kind=DISRUPTION_BUDGETS, name="web-budget", namespace=stage.namespace)
    await kubernetes.patch(ref, MergePatch(changes={"status": status}, subresource="status"))


def metadata(content: Object) -> dict[str, Any]:
    return cast("dict[str, Any]", content["metadata"])


def part(content: Object, name: str) -> dict[str, Any]:
    return cast("dict[str, Any]", content[name])


def names(items: tuple[Object, ...]) -> list[str]:
    return [metadata(one)["name"] for one in items]
