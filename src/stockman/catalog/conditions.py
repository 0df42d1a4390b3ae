"""Conditions that many components share."""

from __future__ import annotations

from stockman.catalog.readiness import Condition

_READY = "object.status.conditions.exists(c, c.type == '{kind}' && c.status == 'True')"


def has_condition(
    kind: str, name: str, says: str, *, namespace: str = "", of: str = "Ready"
) -> Condition:
    """An object whose own condition is true."""
    return Condition(
        kind=kind, name=name, expr=_READY.format(kind=of), says=says, namespace=namespace
    )


def available(name: str, namespace: str) -> Condition:
    """A Deployment that is available."""
    return has_condition(
        "apps/v1 Deployment",
        name,
        f"the deployment {name} is available",
        namespace=namespace,
        of="Available",
    )


def everywhere(name: str, namespace: str) -> Condition:
    """A DaemonSet that runs on every node that it should run on."""
    return Condition(
        kind="apps/v1 DaemonSet",
        name=name,
        expr="object.status.desiredNumberScheduled > 0"
        " && object.status.numberReady == object.status.desiredNumberScheduled",
        says=f"{name} is ready on every node",
        namespace=namespace,
    )


def established(definition: str) -> Condition:
    """A custom resource definition that the API server serves."""
    return has_condition(
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        definition,
        f"{definition} is served",
        of="Established",
    )
