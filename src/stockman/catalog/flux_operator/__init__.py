"""Flux operator: installs and upgrades Flux itself."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component
from stockman.catalog.conditions import available, established
from stockman.catalog.objects import chart_sheets
from stockman.catalog.phases import Phase
from stockman.catalog.scene import Scene
from stockman.catalog.troubles import Trouble


def _apps(scene: Scene) -> Iterator[App]:
    values: Object = {"serviceMonitor": {"create": scene.on("prometheus-operator-crds")}}
    yield App(name="flux-operator", namespace=scene.namespace, sheets=chart_sheets(scene, values))


COMPONENT = Component(
    name="flux-operator",
    about="Installs Flux, and upgrades it.",
    phase=Phase.DELIVERY,
    apps=_apps,
    ready=(
        available("flux-operator", "flux-system"),
        established("fluxinstances.fluxcd.controlplane.io"),
    ),
    trial=None,
    troubles=(
        Trouble(
            shows="FluxInstance stays in progress, and controllers are not made",
            because="the operator cannot fetch its manifests from the registry",
            fix="let nodes reach ghcr.io, or name a mirror under talos.registries",
        ),
    ),
    definitions=("fluxcd.controlplane.io",),
)
