"""Whether objects are as they should be."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.health import health


def one(version: str, kind: str, spec: Any = None, **status: Any) -> dict[str, Any]:
    metadata = {"name": "x", "generation": 2}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": metadata,
        "spec": spec or {},
        "status": status,
    }


def said(kind: str, status: str = "True", reason: str = "") -> list[dict[str, str]]:
    return [{"type": kind, "status": status, "reason": reason}]


_COUNTS = {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}
_DAEMON = {
    "observedGeneration": 2,
    "desiredNumberScheduled": 1,
    "currentNumberScheduled": 1,
    "updatedNumberScheduled": 1,
    "numberAvailable": 1,
    "numberReady": 1,
}


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (None, "NotFound"),
        (one("v1", "ConfigMap"), "Current"),
        (one("example.org/v1", "Widget", observedGeneration=1), "InProgress"),
        (one("example.org/v1", "Widget", observedGeneration=-1), "InProgress"),
        (one("example.org/v1", "Widget", conditions=said("Ready")), "Current"),
        (one("example.org/v1", "Widget", conditions=said("Ready", "False")), "InProgress"),
        (one("example.org/v1", "Widget", conditions=said("Reconciling")), "InProgress"),
        (one("example.org/v1", "Widget", conditions=said("Stalled")), "Failed"),
        (one("apps/v1", "Deployment", {"replicas": 2}), "InProgress"),
        (one("apps/v1", "Deployment", {"replicas": 2}, **_COUNTS), "Current"),
        (
            one(
                "apps/v1",
                "Deployment",
                conditions=said("Progressing", "False", "ProgressDeadlineExceeded"),
            ),
            "Failed",
        ),
        (one("apps/v1", "DaemonSet"), "InProgress"),
        (one("apps/v1", "DaemonSet", **_DAEMON), "Current"),
        (one("apps/v1", "DaemonSet", **{**_DAEMON, "numberAvailable": 0}), "InProgress"),
        (
            one(
                *("apps/v1", "StatefulSet", {"replicas": 1}),
                replicas=1,
                readyReplicas=1,
                currentReplicas=1,
            ),
            "Current",
        ),
        (one("apps/v1", "StatefulSet", {"replicas": 1}, replicas=1), "InProgress"),
        (one("batch/v1", "Job"), "InProgress"),
        (one("batch/v1", "Job", conditions=said("Complete")), "Current"),
        (one("batch/v1", "Job", conditions=said("Failed")), "Failed"),
        (one("v1", "PersistentVolumeClaim", phase="Pending"), "InProgress"),
        (one("v1", "PersistentVolumeClaim", phase="Bound"), "Current"),
        (one("v1", "Pod", phase="Running", conditions=said("Ready")), "Current"),
        (
            one("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            "InProgress",
        ),
        (
            one(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                conditions=said("Established"),
            ),
            "Current",
        ),
    ],
)
def test_objects_are_judged_by_their_kinds(content: Any, found: str) -> None:
    assert health(content) == found


def test_what_is_going_is_neither_here_nor_there() -> None:
    going = one("v1", "ConfigMap")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert health(going) == "Terminating"
