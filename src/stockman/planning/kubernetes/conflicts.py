"""Objects of others with names that desired objects need."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.kubernetes.objects import ObjectRef, ResourceKind
from stockman.model.problem import Problem
from stockman.planning.kubernetes.desired import DesiredChart, DesiredKubernetes
from stockman.planning.observed.kubernetes import ObjectOwner, ObservedKubernetes, ObservedSecret
from stockman.steps.kubernetes import problems
from stockman.steps.kubernetes.resources import ApplySecret

_WORKLOADS = ("Deployment", "DaemonSet", "StatefulSet")


def find_foreign_objects(
    desired: DesiredKubernetes, observed: ObservedKubernetes
) -> tuple[Problem, ...]:
    """Return a problem for every object that prevents installing a chart or a Secret."""
    conflicts = [
        problem
        for chart in desired.charts
        if observed.release(chart.install.namespace, chart.install.release) is None
        for problem in _foreign_workloads(chart, observed)
    ]
    chart_secrets = (secret for chart in desired.charts for secret in chart.secrets)
    for secret in (*desired.secrets, *chart_secrets):
        current = find_secret(observed, secret.action)
        if current is None or current.owner is not ObjectOwner.OTHERS:
            continue
        differs = [
            key for key, value in secret.digests.items() if current.digests.get(key, value) != value
        ]
        if differs:
            conflicts.append(problems.secret_differs(secret.action.ref, (), differs))
    return tuple(conflicts)


def find_secret(observed: ObservedKubernetes, action: ApplySecret) -> ObservedSecret | None:
    """Return the observed Secret of an action. None: it does not exist."""
    name = (action.namespace, action.name)
    return next(
        (secret for secret in observed.secrets or () if (secret.namespace, secret.name) == name),
        None,
    )


def _foreign_workloads(chart: DesiredChart, observed: ObservedKubernetes) -> Iterator[Problem]:
    for condition in chart.conditions:
        if condition.kind not in _WORKLOADS or not condition.name:
            continue
        workload = observed.workload(condition.kind, condition.namespace, condition.name)
        if workload is None or workload.release == chart.install.release:
            continue
        plural = f"{condition.kind.lower()}s"
        kind = ResourceKind(api_version=condition.api_version, name=condition.kind, plural=plural)
        ref = ObjectRef(kind=kind, name=condition.name, namespace=condition.namespace)
        why = f"the chart of {chart.install.release} contains an object with this name"
        yield problems.foreign_object(ref, workload.managers, why)
