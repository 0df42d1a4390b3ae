"""Smoke tests that run a command in a pod, or use a volume."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.conditions import Condition, SmokeTest

TEST_IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"
"""The image that Kubernetes uses for its own tests."""
_NAMESPACE = "default"
_RESTRICTED: Object = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "runAsUser": 65534,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def job_smoke_test(says: str, name: str, command: tuple[str, ...]) -> SmokeTest:
    """Return a smoke test that succeeds if a command in a pod does."""
    container: Object = {
        "name": "test",
        "image": TEST_IMAGE,
        "command": list(command),
        "securityContext": _RESTRICTED,
    }
    job: Object = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": _NAMESPACE},
        "spec": {
            "backoffLimit": 3,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }
    done = Condition(
        kind="batch/v1 Job",
        name=name,
        expr="object.status.succeeded >= 1",
        says="the command succeeds",
        namespace=_NAMESPACE,
    )
    return SmokeTest(says=says, objects=(job,), until=(done,), seconds=120)


def volume_smoke_test(storage_class: str) -> SmokeTest:
    """Return a smoke test of a storage class."""
    name = f"stockman-volume-test-{storage_class}"
    claim: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": _NAMESPACE},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": storage_class,
        },
    }
    consumer: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": _NAMESPACE},
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "write",
                    "image": TEST_IMAGE,
                    "command": ["sh", "-c", "date > /volume/written"],
                    "volumeMounts": [{"name": "volume", "mountPath": "/volume"}],
                }
            ],
            "volumes": [{"name": "volume", "persistentVolumeClaim": {"claimName": name}}],
        },
    }
    return SmokeTest(
        says="a volume of 1 GiB can be created, written to and deleted",
        objects=(claim, consumer),
        until=(
            Condition(
                kind="v1 PersistentVolumeClaim",
                name=name,
                expr="object.status.phase == 'Bound'",
                says="the claim is bound",
                namespace=_NAMESPACE,
            ),
            Condition(
                kind="v1 Pod",
                name=name,
                expr="object.status.phase == 'Succeeded'",
                says="the pod wrote to the volume",
                namespace=_NAMESPACE,
            ),
        ),
        gone=(
            Condition(
                kind="v1 PersistentVolume",
                name="",
                expr=f"!has(object.spec.claimRef) || object.spec.claimRef.name != '{name}'",
                says="the volume is deleted",
            ),
        ),
        seconds=300,
    )
