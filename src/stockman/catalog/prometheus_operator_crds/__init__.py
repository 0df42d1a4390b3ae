"""Definitions of the Prometheus operator: what monitors and alert rules are written in."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App
from stockman.catalog.component import Component
from stockman.catalog.conditions import established
from stockman.catalog.objects import chart_sheets
from stockman.catalog.phases import Phase
from stockman.catalog.scene import Scene
from stockman.catalog.troubles import Trouble

_KINDS = ("podmonitors", "prometheusrules", "servicemonitors")


def _apps(scene: Scene) -> Iterator[App]:
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
    ready=tuple(established(f"{kind}.monitoring.coreos.com") for kind in _KINDS),
    trial=None,
    definitions=("monitoring.coreos.com",),
    troubles=(
        Trouble(
            shows="monitors are there, and no metric arrives",
            because="these are definitions only; a Prometheus that reads them is up to you",
            fix="install one, or use the rules as files with a Prometheus outside of the cluster",
        ),
    ),
)
