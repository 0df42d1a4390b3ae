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


def troubles(found: Living) -> list[str]:
    """Everything that is not ready, one line each."""
    return [
        *_of_flux(found),
        *_of_workloads(found),
        *_of_pods(found),
        *_of_nodes(found),
        *_of_claims(found),
    ]


def counted(found: Living) -> dict[str, int]:
    """How many objects of Flux there are, and how many pods run."""
    pods = [one for one in found.items("/api/v1/pods") if one["status"]["phase"] == "Running"]
    return {name: len(found.items(path)) for name, path in FLUX.items()} | {"pods": len(pods)}


def versions(found: Living) -> dict[str, str]:
    """Versions of all workloads and of what they are configured with."""
    made = {}
    for name in (*WORKLOADS, "replicasets"):
        for one in found.items(f"/apis/apps/v1/{name}"):
            made[f"{name} {_named(one)}"] = one["metadata"]["resourceVersion"]
    for name in ("services", "configmaps", "secrets", "serviceaccounts", "pods"):
        for one in found.items(f"/api/v1/{name}"):
            made[f"{name} {_named(one)}"] = one["metadata"]["resourceVersion"]
    return made


def look_again(found: Living, word: str) -> None:
    """Have all of Flux look at everything once more, as `flux reconcile` does."""
    change = {"metadata": {"annotations": {_REQUESTED: word}}}
    for path in FLUX.values():
        root, _, plural = path.rpartition("/")
        for one in found.items(path):
            about = one["metadata"]
            place = f"{root}/namespaces/{about['namespace']}/{plural}/{about['name']}"
            found.ask("PATCH", place, change, "application/merge-patch+json")
    found.world.settle()


def answered(found: Living, word: str) -> list[str]:
    """What has not been looked at since it was asked for."""
    return [
        f"{name} {_named(one)}"
        for name, path in FLUX.items()
        for one in found.items(path)
        if name != "helmrepositories" and one["status"].get("lastHandledReconcileAt") != word
    ]


def _of_flux(found: Living) -> Iterator[str]:
    for name, path in FLUX.items():
        for one in found.items(path):
            status, text = _condition(one, "Ready")
            is_plain = name == "helmrepositories" and one["spec"].get("type") == "oci"
            if status != "True" and not is_plain:
                yield f"{name} {_named(one)}: {text or 'says nothing'}"


def _of_workloads(found: Living) -> Iterator[str]:
    for name in WORKLOADS:
        for one in found.items(f"/apis/apps/v1/{name}"):
            status = one.get("status", {})
            if name == "daemonsets":
                replicas, number_available = (
                    status["desiredNumberScheduled"],
                    status.get("numberAvailable", 0),
                )
            else:
                replicas, number_available = (
                    one["spec"]["replicas"],
                    status.get("availableReplicas", 0),
                )
            if replicas != number_available:
                yield f"{name} {_named(one)}: {number_available} of {replicas}"


def _of_pods(found: Living) -> Iterator[str]:
    for one in found.items("/api/v1/pods"):
        status = one["status"]
        restarts = sum(each["restartCount"] for each in status.get("containerStatuses", ()))
        if status["phase"] not in {"Running", "Succeeded"} or restarts:
            yield f"pod {_named(one)}: {status['phase']}, {restarts} restarts"


def _of_nodes(found: Living) -> Iterator[str]:
    for one in found.items("/api/v1/nodes"):
        status, text = _condition(one, "Ready")
        if status != "True":
            yield f"node {one['metadata']['name']}: {text}"
        if any(each["key"] == _UNINITIALIZED for each in one["spec"].get("taints", ())):
            yield f"node {one['metadata']['name']} is not initialized"


def _of_claims(found: Living) -> Iterator[str]:
    for one in found.items("/api/v1/persistentvolumeclaims"):
        if one["status"]["phase"] != "Bound":
            yield f"claim {_named(one)}: {one['status']['phase']}"


def _condition(one: Any, kind: str) -> tuple[str, str]:
    for each in one.get("status", {}).get("conditions", ()):
        if each["type"] == kind:
            return each["status"], each["message"]
    return "", ""


def _named(one: Any) -> str:
    about = one["metadata"]
    return f"{about['namespace']}/{about['name']}"
