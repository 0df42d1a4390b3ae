"""How one knows that a component works: conditions that hold, and a trial of what it is for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from stockman.catalog.app import Object
from stockman.model.record import record


@record
class Condition:
    """Something that has to be true of an object in the cluster."""

    kind: str
    """`apps/v1 Deployment`."""
    name: str
    """Empty: every object of the kind."""
    expr: str
    """CEL over `object`; true when it holds."""
    says: str
    """The same in words."""
    namespace: str = ""
    """Empty: cluster-wide."""


@record
class SmokeTest:
    """A functional check: make something small with the component, see that it works, clean up."""

    says: str
    """What is tried, in one sentence."""
    objects: tuple[Object, ...] = ()
    """Made for the trial, in order, and removed after it, in reverse. Empty: nothing is made."""
    starts: str = ""
    """CronJob that is run once by hand, `namespace/name`; a condition without a name is then
    about that run. Empty: none."""
    until: tuple[Condition, ...] = ()
    """What has to hold for the trial to succeed."""
    gone: tuple[Condition, ...] = ()
    """What has to hold once the objects were removed."""
    seconds: int = 300
    """How long it may take."""


def in_namespace(conditions: Iterable[Condition], usual: str, actual: str) -> tuple[Condition, ...]:
    """Conditions about a component's usual namespace, in the one that it was given."""
    return tuple(
        replace(one, namespace=actual) if one.namespace == usual else one for one in conditions
    )


_READY = "object.status.conditions.exists(c, c.type == '{kind}' && c.status == 'True')"


def object_condition(
    kind: str, name: str, says: str, *, namespace: str = "", of: str = "Ready"
) -> Condition:
    """An object whose own condition is true."""
    return Condition(
        kind=kind, name=name, expr=_READY.format(kind=of), says=says, namespace=namespace
    )


def deployment_condition(name: str, namespace: str) -> Condition:
    """A Deployment that is available."""
    return object_condition(
        "apps/v1 Deployment",
        name,
        f"the deployment {name} is available",
        namespace=namespace,
        of="Available",
    )


def daemonset_condition(name: str, namespace: str) -> Condition:
    """A DaemonSet that runs on every node that it should run on."""
    return Condition(
        kind="apps/v1 DaemonSet",
        name=name,
        expr="object.status.desiredNumberScheduled > 0"
        " && object.status.numberReady == object.status.desiredNumberScheduled",
        says=f"{name} is ready on every node",
        namespace=namespace,
    )


def crd_condition(definition: str) -> Condition:
    """A custom resource definition that the API server serves."""
    return object_condition(
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        definition,
        f"{definition} is served",
        of="Established",
    )
