"""Definitions of the Prometheus operator: what monitors and alert rules are written in."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import crd_condition
from stockman.catalog.objects import chart_sheets

_KINDS = ("podmonitors", "prometheusrules", "servicemonitors")


def _apps(scene: ComponentContext) -> Iterator[App]:
    yield App(
        name="prometheus-operator-crds",
        namespace=scene.namespace,
        sheets=chart_sheets(scene, {}),
    )


COMPONENT = Component(
    name="prometheus-operator-crds",
    about="The kinds in which monitors and alert rules are written; turns monitoring on.",
    phase=Phase.DEFINITIONS,
    apps=_apps,
    ready=tuple(crd_condition(f"{kind}.monitoring.coreos.com") for kind in _KINDS),
    trial=None,
    definitions=("monitoring.coreos.com",),
    troubles=(
        KnownProblem(
            shows="monitors are there, and no metric arrives",
            because="these are definitions only; a Prometheus that reads them is up to you",
            fix="install one, or use the rules as files with a Prometheus outside of the cluster",
        ),
    ),
)
