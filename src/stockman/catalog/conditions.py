"""Readiness conditions and smoke tests of components."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from stockman.catalog.app import Object
from stockman.model.record import record


@record
class Condition:
    """A condition on an object in the cluster."""

    kind: str
    """`apps/v1 Deployment`."""
    name: str
    """Empty: every object of the kind."""
    expr: str
    """CEL over `object`."""
    says: str
    """Description of the condition."""
    namespace: str = ""
    """Empty: cluster-scoped."""


@record
class SmokeTest:
    """A functional test: create a small object with the component, check the result, clean up."""

    says: str
    """What is tested, in one sentence."""
    objects: tuple[Object, ...] = ()
    """Objects created for the test in this order, and deleted in reverse. Empty: none."""
    starts: str = ""
    """CronJob to start once, `namespace/name`, as the Job `stockman-NAME-test`. Empty: none."""
    created: tuple[Object, ...] = ()
    """Objects that the component creates for the test. They have the label of stockman, and are
    deleted with the others."""
    until: tuple[Condition, ...] = ()
    """Conditions for success."""
    gone: tuple[Condition, ...] = ()
    """Conditions after the objects are deleted."""
    seconds: int = 300
    """Timeout."""

    def moved(self, usual: str, actual: str) -> SmokeTest:
        """Return the test in another namespace than the usual one of the component."""
        namespace, _, cron_job = self.starts.partition("/")
        return replace(
            self,
            objects=tuple(_moved(content, usual, actual) for content in self.objects),
            created=tuple(_moved(content, usual, actual) for content in self.created),
            starts=f"{actual}/{cron_job}" if namespace == usual else self.starts,
            until=in_namespace(self.until, usual, actual),
            gone=in_namespace(self.gone, usual, actual),
        )


def _moved(content: Object, usual: str, actual: str) -> Object:
    metadata = content["metadata"]
    if not isinstance(metadata, dict) or metadata.get("namespace") != usual:
        return content
    return {**content, "metadata": {**metadata, "namespace": actual}}


def in_namespace(conditions: Iterable[Condition], usual: str, actual: str) -> tuple[Condition, ...]:
    """Move conditions from the usual namespace of a component to the configured one."""
    return tuple(
        replace(condition, namespace=actual) if condition.namespace == usual else condition
        for condition in conditions
    )


_READY = "object.status.conditions.exists(c, c.type == '{kind}' && c.status == 'True')"


def object_condition(
    kind: str, name: str, says: str, *, namespace: str = "", of: str = "Ready"
) -> Condition:
    """Return the condition that an object has a true status condition."""
    return Condition(
        kind=kind, name=name, expr=_READY.format(kind=of), says=says, namespace=namespace
    )


def deployment_condition(name: str, namespace: str) -> Condition:
    """Return the condition that a Deployment is available."""
    return object_condition(
        "apps/v1 Deployment",
        name,
        f"the deployment {name} is available",
        namespace=namespace,
        of="Available",
    )


def daemonset_condition(name: str, namespace: str) -> Condition:
    """Return the condition that a DaemonSet is ready on every node."""
    return Condition(
        kind="apps/v1 DaemonSet",
        name=name,
        expr="object.status.desiredNumberScheduled > 0"
        " && object.status.numberReady == object.status.desiredNumberScheduled",
        says=f"{name} is ready on every node",
        namespace=namespace,
    )


def crd_condition(definition: str) -> Condition:
    """Return the condition that a custom resource definition is served."""
    return object_condition(
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        definition,
        f"{definition} is served",
        of="Established",
    )


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
