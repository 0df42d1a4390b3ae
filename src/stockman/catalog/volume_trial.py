"""A trial of storage: a claim with a consumer binds, and goes again without a trace."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.readiness import Condition, Trial
from stockman.catalog.trials import TRIAL_IMAGE

_NAME = "stockman-volume-trial"
_NAMESPACE = "default"


def volume_trial(storage_class: str) -> Trial:
    """A trial of one storage class."""
    claim: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": _NAME, "namespace": _NAMESPACE},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": storage_class,
        },
    }
    consumer: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": _NAME, "namespace": _NAMESPACE},
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "write",
                    "image": TRIAL_IMAGE,
                    "command": ["sh", "-c", "date > /volume/written"],
                    "volumeMounts": [{"name": "volume", "mountPath": "/volume"}],
                }
            ],
            "volumes": [{"name": "volume", "persistentVolumeClaim": {"claimName": _NAME}}],
        },
    }
    return Trial(
        says="a claim of 1 GiB with a consumer binds, is written to, and goes again",
        objects=(claim, consumer),
        until=(
            _holds("v1 PersistentVolumeClaim", "object.status.phase == 'Bound'", "it is bound"),
            _holds("v1 Pod", "object.status.phase == 'Succeeded'", "it was written to"),
        ),
        gone=(
            Condition(
                kind="v1 PersistentVolume",
                name="",
                expr=f"!has(object.spec.claimRef) || object.spec.claimRef.name != '{_NAME}'",
                says="the volume is gone",
            ),
        ),
        seconds=300,
    )


def _holds(kind: str, expr: str, says: str) -> Condition:
    return Condition(kind=kind, name=_NAME, expr=expr, says=says, namespace=_NAMESPACE)
