"""Prometheus operator CRDs: definitions of monitors and alert rules."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import crd_condition
from stockman.catalog.objects import chart_sheets

_KINDS = ("podmonitors", "prometheusrules", "servicemonitors")


def _apps(context: ComponentContext) -> Iterator[App]:
    yield App(
        name="prometheus-operator-crds",
        namespace=context.namespace,
        sheets=chart_sheets(context, {}),
    )


COMPONENT = Component(
    name="prometheus-operator-crds",
    about="Custom resource definitions of monitors and alert rules; enables monitoring.",
    phase=Phase.DEFINITIONS,
    apps=_apps,
    ready=tuple(crd_condition(f"{kind}.monitoring.coreos.com") for kind in _KINDS),
    definitions=("monitoring.coreos.com",),
    known_problems=(
        KnownProblem(
            symptom="monitors exist, but there are no metrics",
            cause="these are definitions only; you have to install a Prometheus that uses them",
            fix="install one, or use the rule files with a Prometheus outside of the cluster",
        ),
    ),
)
