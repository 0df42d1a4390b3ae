"""Flux operator: installs and upgrades Flux itself."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import crd_condition, deployment_condition
from stockman.catalog.objects import chart_sheets


def _apps(scene: ComponentContext) -> Iterator[App]:
    values: Object = {"serviceMonitor": {"create": scene.on("prometheus-operator-crds")}}
    yield App(name="flux-operator", namespace=scene.namespace, sheets=chart_sheets(scene, values))


COMPONENT = Component(
    name="flux-operator",
    about="Installs Flux, and upgrades it.",
    phase=Phase.DELIVERY,
    apps=_apps,
    ready=(
        deployment_condition("flux-operator", "flux-system"),
        crd_condition("fluxinstances.fluxcd.controlplane.io"),
    ),
    trial=None,
    troubles=(
        KnownProblem(
            shows="FluxInstance stays in progress, and controllers are not made",
            because="the operator cannot fetch its manifests from the registry",
            fix="let nodes reach ghcr.io, or name a mirror under talos.registries",
        ),
    ),
    definitions=("fluxcd.controlplane.io",),
)
