"""Flux operator: installs and upgrades Flux."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import crd_condition, deployment_condition
from stockman.catalog.objects import chart_sheets


def _apps(context: ComponentContext) -> Iterator[App]:
    values: Object = {"serviceMonitor": {"create": context.is_enabled("prometheus-operator-crds")}}
    yield App(
        name="flux-operator", namespace=context.namespace, sheets=chart_sheets(context, values)
    )


COMPONENT = Component(
    name="flux-operator",
    about="Installs and upgrades Flux.",
    phase=Phase.DELIVERY,
    apps=_apps,
    ready=(
        deployment_condition("flux-operator", "flux-system"),
        crd_condition("fluxinstances.fluxcd.controlplane.io"),
    ),
    known_problems=(
        KnownProblem(
            symptom="FluxInstance stays in progress, and controllers are not created",
            cause="the operator cannot fetch its manifests from the registry",
            fix="allow nodes to reach ghcr.io, or set a mirror in talos.registries",
        ),
    ),
    definitions=("fluxcd.controlplane.io",),
)
