"""The FluxReport of a cluster: what of Flux is there, and how it is."""

from __future__ import annotations

from stockman_lab.kube.controllers.client import Client
from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.flux.helm_status import Standing
from stockman_lab.kube.helm.definitions import definitions
from stockman_lab.kube.helm.readiness import why_not
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

_GROUP = "fluxcd.controlplane.io"
_COMPONENTS = (
    "helm-controller",
    "kustomize-controller",
    "notification-controller",
    "source-controller",
)


def report(objects: Objects, client: Client, instance: Object, pod: Object, now: float) -> None:
    """Write down how Flux is now."""
    about = metadata_of(instance)
    key = f"{about['namespace']}/{about['name']}"
    fluxreports = objects.get("fluxreports", key, _GROUP)
    spec = _spec(objects, client, instance, pod)
    if fluxreports is None:
        names = {"name": about["name"], "namespace": about["namespace"]}
        fluxreports = client.create(f"{_GROUP}/v1", "FluxReport", {"metadata": names, "spec": spec})
    elif part_of(fluxreports, "spec") != spec:
        fluxreports = client.update({**fluxreports, "spec": spec})
    standing = Standing(fluxreports, {**part_of(fluxreports, "status")}, now)
    standing.mark("Ready", "True", "Succeeded", "Reporting finished in 12ms")
    if standing.status != part_of(fluxreports, "status"):
        client.update_status(fluxreports, standing.status)


def _spec(objects: Objects, client: Client, instance: Object, pod: Object) -> Object:
    space = str(metadata_of(instance)["namespace"])
    version = str(part_of(instance, "status").get("lastAppliedRevision", "")).partition("@")[0]
    image = str(entries_of(pod, "spec", "containers")[0].get("image", "")).partition("@")[0]
    made: Object = {
        "distribution": {
            "entitlement": "Issued by controlplane",
            "status": "Installed" if version else "Not Installed",
            "managedBy": "flux-operator",
        },
        "cluster": {
            "serverVersion": client.api.settings.version,
            "platform": "linux/amd64",
            "nodes": len(objects.listed("nodes")),
        },
        "operator": {
            "apiVersion": f"{_GROUP}/v1",
            "version": image.rpartition(":")[2],
            "platform": "linux/amd64",
        },
        "components": _components(objects, space),
        "reconcilers": _reconcilers(objects),
    }
    if version:
        made["distribution"]["version"] = version
    sync = _sync(objects, instance, space)
    return {**made, "sync": sync} if sync else made


def _components(objects: Objects, space: str) -> list[Object]:
    components = []
    for name in _COMPONENTS:
        deployments = objects.get("deployments", f"{space}/{name}")
        if deployments is None:
            continue
        why = why_not({"apiVersion": "apps/v1", "kind": "Deployment", **deployments})
        inner = part_of(deployments, "spec", "template")
        image = str(entries_of(inner, "spec", "containers")[0].get("image", ""))
        says = f"InProgress {why}" if why else "Current Deployment is available. Replicas: 1"
        components.append({"name": name, "ready": not why, "status": says, "image": image})
    return components


def _reconcilers(objects: Objects) -> list[Object]:
    reconcilers = []
    for definition in definitions("flux"):
        group, kind = definition["spec"]["group"], definition["spec"]["names"]["kind"]
        found = objects.listed(definition["spec"]["names"]["plural"], group=group)
        if not found:
            continue
        suspended = [each for each in found if part_of(each, "spec").get("suspend")]
        failing = [each for each in found if _is_failing(each) and each not in suspended]
        version = next(each["name"] for each in definition["spec"]["versions"] if each["storage"])
        stats = {
            "running": len(found) - len(suspended),
            "failing": len(failing),
            "suspended": len(suspended),
        }
        reconcilers.append({"apiVersion": f"{group}/{version}", "kind": kind, "stats": stats})
    return reconcilers


def _is_failing(content: Object) -> bool:
    return any(
        entry.get("type") == "Ready" and entry.get("status") == "False"
        for entry in entries_of(content, "status", "conditions")
    )


def _sync(objects: Objects, instance: Object, space: str) -> Object:
    told = part_of(instance, "spec", "sync")
    if not told.get("url"):
        return {}
    name = str(told.get("name") or space)
    kustomizations = (
        objects.get("kustomizations", f"{space}/{name}", "kustomize.toolkit.fluxcd.io") or {}
    )
    ready = [
        entry
        for entry in entries_of(kustomizations, "status", "conditions")
        if entry["type"] == "Ready"
    ]
    message = str(ready[0].get("message", "")) if ready else "not found"
    return {
        "id": f"kustomization/{name}",
        "path": told.get("path", ""),
        "ready": bool(ready) and ready[0].get("status") == "True",
        "status": message,
        "source": told["url"],
    }
