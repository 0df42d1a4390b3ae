"""Flux operator: installs and upgrades Flux."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import crd_condition, deployment_condition
from stockman.catalog.objects import chart_sheets
from stockman.catalog.proxy import has_hidden_proxy, proxy_variables
from stockman.model.problem import Problems


def _apps(context: ComponentContext) -> Iterator[App]:
    values: Object = {"serviceMonitor": {"create": context.is_enabled("prometheus-operator-crds")}}
    if variables := proxy_variables(context.desired):
        values["extraEnvs"] = [{"name": name, "value": value} for name, value in variables.items()]
    yield App(
        name="flux-operator", namespace=context.namespace, sheets=chart_sheets(context, values)
    )


def _check(context: ComponentContext, problems: Problems) -> None:
    if has_hidden_proxy(context.desired):
        problems.warn(
            "component.proxy-password",
            "Flux cannot use the proxy, because its address contains a password",
            why="values of Helm releases are committed without encryption",
            fix="allow the nodes to use the proxy without a password",
            at=context.options.where("enabled"),
        )


COMPONENT = Component(
    name="flux-operator",
    about="Installs and upgrades Flux.",
    phase=Phase.DELIVERY,
    apps=_apps,
    check=_check,
    ready=(
        deployment_condition("flux-operator", "flux-system"),
        crd_condition("fluxinstances.fluxcd.controlplane.io"),
    ),
    known_problems=(
        KnownProblem(
            symptom="FluxInstance stays in progress, and controllers are not created",
            cause="the operator cannot fetch its manifests from the registry",
            fix="allow nodes to reach ghcr.io, or set a proxy in talos.environment; mirrors in"
            " talos.registries only serve images of containers",
        ),
    ),
    definitions=("fluxcd.controlplane.io",),
)
