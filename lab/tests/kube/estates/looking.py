"""What became of a cluster that follows its repository: everything that is not as it should be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lab.tests.kube.estates.living import Living

FLUX = {
    "gitrepositories": "/apis/source.toolkit.fluxcd.io/v1/gitrepositories",
    "ocirepositories": "/apis/source.toolkit.fluxcd.io/v1/ocirepositories",
    "helmrepositories": "/apis/source.toolkit.fluxcd.io/v1/helmrepositories",
    "kustomizations": "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations",
    "helmreleases": "/apis/helm.toolkit.fluxcd.io/v2/helmreleases",
    "fluxinstances": "/apis/fluxcd.controlplane.io/v1/fluxinstances",
}
WORKLOADS = ("deployments", "daemonsets", "statefulsets")
_UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"
_REQUESTED = "reconcile.fluxcd.io/requestedAt"


def troubles(living: Living) -> list[str]:
    """Everything that is not ready, one line each."""
    return [
        *_of_flux(living),
        *_of_workloads(living),
        *_of_pods(living),
        *_of_nodes(living),
        *_of_claims(living),
    ]


def counted(living: Living) -> dict[str, int]:
    """How many objects of Flux there are, and how many pods run."""
    pods = [item for item in living.items("/api/v1/pods") if item["status"]["phase"] == "Running"]
    return {name: len(living.items(path)) for name, path in FLUX.items()} | {"pods": len(pods)}


def versions(living: Living) -> dict[str, str]:
    """Versions of all workloads and of what they are configured with."""
    result = {}
    for name in (*WORKLOADS, "replicasets"):
        for item in living.items(f"/apis/apps/v1/{name}"):
            result[f"{name} {_named(item)}"] = item["metadata"]["resourceVersion"]
    for name in ("services", "configmaps", "secrets", "serviceaccounts", "pods"):
        for item in living.items(f"/api/v1/{name}"):
            result[f"{name} {_named(item)}"] = item["metadata"]["resourceVersion"]
    return result


def look_again(living: Living, word: str) -> None:
    """Have all of Flux look at everything once more, as `flux reconcile` does."""
    change = {"metadata": {"annotations": {_REQUESTED: word}}}
    for path in FLUX.values():
        root, _, plural = path.rpartition("/")
        for item in living.items(path):
            about = item["metadata"]
            key = f"{root}/namespaces/{about['namespace']}/{plural}/{about['name']}"
            living.ask("PATCH", key, change, "application/merge-patch+json")
    living.world.settle()


def answered(living: Living, word: str) -> list[str]:
    """What has not been looked at since it was asked for."""
    return [
        f"{name} {_named(item)}"
        for name, path in FLUX.items()
        for item in living.items(path)
        if name != "helmrepositories" and item["status"].get("lastHandledReconcileAt") != word
    ]


def _of_flux(living: Living) -> Iterator[str]:
    for name, path in FLUX.items():
        for item in living.items(path):
            status, text = _condition(item, "Ready")
            is_plain = name == "helmrepositories" and item["spec"].get("type") == "oci"
            if status != "True" and not is_plain:
                yield f"{name} {_named(item)}: {text or 'says nothing'}"


def _of_workloads(living: Living) -> Iterator[str]:
    for name in WORKLOADS:
        for item in living.items(f"/apis/apps/v1/{name}"):
            status = item.get("status", {})
            if name == "daemonsets":
                replicas, number_available = (
                    status["desiredNumberScheduled"],
                    status.get("numberAvailable", 0),
                )
            else:
                replicas, number_available = (
                    item["spec"]["replicas"],
                    status.get("availableReplicas", 0),
                )
            if replicas != number_available:
                yield f"{name} {_named(item)}: {number_available} of {replicas}"


def _of_pods(living: Living) -> Iterator[str]:
    for item in living.items("/api/v1/pods"):
        status = item["status"]
        restarts = sum(each["restartCount"] for each in status.get("containerStatuses", ()))
        if status["phase"] not in {"Running", "Succeeded"} or restarts:
            yield f"pod {_named(item)}: {status['phase']}, {restarts} restarts"


def _of_nodes(living: Living) -> Iterator[str]:
    for item in living.items("/api/v1/nodes"):
        status, text = _condition(item, "Ready")
        if status != "True":
            yield f"node {item['metadata']['name']}: {text}"
        if any(each["key"] == _UNINITIALIZED for each in item["spec"].get("taints", ())):
            yield f"node {item['metadata']['name']} is not initialized"


def _of_claims(living: Living) -> Iterator[str]:
    for item in living.items("/api/v1/persistentvolumeclaims"):
        if item["status"]["phase"] != "Bound":
            yield f"claim {_named(item)}: {item['status']['phase']}"


def _condition(one: Any, kind: str) -> tuple[str, str]:
    for each in one.get("status", {}).get("conditions", ()):
        if each["type"] == kind:
            return each["status"], each["message"]
    return "", ""


def _named(one: Any) -> str:
    about = one["metadata"]
    return f"{about['namespace']}/{about['name']}"
