"""Trials that run a command in a pod of their own."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.readiness import Condition, Trial

TRIAL_IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"
"""The image with which Kubernetes tests itself."""
_NAMESPACE = "default"
_RESTRICTED: Object = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "runAsUser": 65534,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def job_trial(says: str, name: str, command: tuple[str, ...]) -> Trial:
    """A trial that succeeds when a command in a pod does."""
    container: Object = {
        "name": "trial",
        "image": TRIAL_IMAGE,
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
        says="the command succeeded",
        namespace=_NAMESPACE,
    )
    return Trial(says=says, objects=(job,), until=(done,), seconds=120)
