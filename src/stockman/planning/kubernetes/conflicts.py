"""Objects of others that stand where ours have to be."""

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
    wish: DesiredKubernetes, observed: ObservedKubernetes
) -> tuple[Problem, ...]:
    """Every object that keeps a chart or a Secret from being put in place."""
    found = [
        one
        for chart in wish.charts
        if observed.release(chart.install.namespace, chart.install.release) is None
        for one in _workloads(chart, observed)
    ]
    for secret in (*wish.secrets, *(one for chart in wish.charts for one in chart.secrets)):
        there = find_secret(observed, secret.action)
        if there is None or there.owner is not ObjectOwner.OTHERS:
            continue
        differs = [
            key for key, value in secret.digests.items() if there.digests.get(key, value) != value
        ]
        if differs:
            found.append(problems.secret_differs(secret.action.ref, (), differs))
    return tuple(found)


def find_secret(observed: ObservedKubernetes, wanted: ApplySecret) -> ObservedSecret | None:
    """A Secret as it was seen. None: there is none."""
    name = (wanted.namespace, wanted.name)
    return next(
        (one for one in observed.secrets or () if (one.namespace, one.name) == name),
        None,
    )


def _workloads(chart: DesiredChart, observed: ObservedKubernetes) -> Iterator[Problem]:
    for one in chart.conditions:
        if one.kind not in _WORKLOADS or not one.name:
            continue
        there = observed.workload(one.kind, one.namespace, one.name)
        if there is None or there.release == chart.install.release:
            continue
        plural = f"{one.kind.lower()}s"
        kind = ResourceKind(api_version=one.api_version, name=one.kind, plural=plural)
        ref = ObjectRef(kind=kind, name=one.name, namespace=one.namespace)
        why = f"the chart of {chart.install.release} brings an object of this name"
        yield problems.foreign_object(ref, there.managers, why)
