"""Whether what a release made works, as those who wait for it see it."""

from __future__ import annotations

from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of


def why_not(content: Object | None) -> str:
    """What an object is waited for with; empty: it is as it should be."""
    if content is None:
        return "NotFound"
    if metadata_of(content).get("deletionTimestamp"):
        return "Terminating"
    look = {
        "Deployment": _deployment,
        "DaemonSet": _daemon_set,
        "StatefulSet": _stateful_set,
        "Job": _job,
        "CustomResourceDefinition": _definition,
        "PersistentVolumeClaim": _claim,
    }.get(str(content["kind"]))
    if look is not None:
        return look(content)
    return _custom(content) if "." in str(content["apiVersion"]).partition("/")[0] else ""


def _is_seen(content: Object) -> bool:
    generation = metadata_of(content).get("generation")
    observed = part_of(content, "status").get("observedGeneration")
    return generation is None or observed is None or int(observed) >= int(generation)


def _deployment(content: Object) -> str:
    replicas = part_of(content, "spec").get("replicas", 1)
    status = part_of(content, "status")
    if not status.get("observedGeneration") or not _is_seen(content):
        return "Observed generation doesn't match latest generation"
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if updated < replicas:
        return f"Updated: {updated}/{replicas}"
    if status.get("replicas", 0) > replicas:
        return f"Pending termination: {status.get('replicas', 0) - replicas}"
    return f"Available: {available}/{replicas}" if available < replicas else ""


def _daemon_set(content: Object) -> str:
    status = part_of(content, "status")
    if not status.get("observedGeneration") or not _is_seen(content):
        return "Observed generation doesn't match latest generation"
    wanted = status.get("desiredNumberScheduled", 0)
    updated, available = status.get("updatedNumberScheduled", 0), status.get("numberAvailable", 0)
    if updated < wanted:
        return f"Updated: {updated}/{wanted}"
    return f"Available: {available}/{wanted}" if available < wanted else ""


def _stateful_set(content: Object) -> str:
    replicas = part_of(content, "spec").get("replicas", 1)
    ready = part_of(content, "status").get("readyReplicas", 0)
    return f"Ready: {ready}/{replicas}" if ready < replicas else ""


def _job(content: Object) -> str:
    done = any(
        entry.get("type") == "Complete" and entry.get("status") == "True"
        for entry in entries_of(content, "status", "conditions")
    )
    return "" if done else "Job in progress"


def _definition(content: Object) -> str:
    done = any(
        entry.get("type") == "Established" and entry.get("status") == "True"
        for entry in entries_of(content, "status", "conditions")
    )
    return "" if done else "Install in progress"


def _claim(content: Object) -> str:
    return "" if part_of(content, "status").get("phase") == "Bound" else "PVC is not Bound"


def _custom(content: Object) -> str:
    """Conditions that all controllers understand: `Ready`, `Reconciling`, `Stalled`."""
    if not _is_seen(content):
        return "Observed generation doesn't match latest generation"
    for entry in entries_of(content, "status", "conditions"):
        if entry.get("type") == "Ready" and entry.get("status") != "True":
            return str(entry.get("message") or "Ready condition is not True")
        if entry.get("type") == "Reconciling" and entry.get("status") == "True":
            return str(entry.get("message") or "Reconciling")
    return ""
