"""Monitoring: alert rules of every component and of the cluster itself, dashboards, monitors."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition
from stockman.catalog.monitoring.cluster_alerts import CLUSTER_ALERTS
from stockman.catalog.monitoring.dashboards import dashboards
from stockman.catalog.monitoring.outside import outside_files
from stockman.catalog.monitoring.rules import rule_groups
from stockman.catalog.monitoring.settings import MonitoringSettings, check, settings_of
from stockman.catalog.monitoring.sources import SYSTEM, control_plane_sources
from stockman.catalog.objects import config_map, is_monitoring_on

_LITERAL: Object = {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}
"""Flux leaves these objects alone: a dollar sign in them is Prometheus' or Grafana's."""


def _apps(scene: ComponentContext) -> Iterator[App]:
    if not is_monitoring_on(scene):
        return
    sheets = [Sheet(name="prometheusrule.yaml", objects=(_rules(scene),))]
    settings = settings_of(scene)
    if settings.dashboards:
        sheets.append(Sheet(name="dashboards.yaml", objects=tuple(_dashboards(scene))))
    yield App(name="monitoring", namespace=scene.namespace, sheets=tuple(sheets))
    if settings.control_plane:
        yield App(
            name="monitoring-control-plane",
            namespace=SYSTEM,
            folder="control-plane",
            sheets=(Sheet(name="sources.yaml", objects=control_plane_sources(scene)),),
        )


def _rules(scene: ComponentContext) -> Object:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "stockman", "annotations": _LITERAL},
        "spec": {"groups": rule_groups(scene)},
    }


def _dashboards(scene: ComponentContext) -> Iterator[Object]:
    for name, text in dashboards(scene).items():
        yield config_map(
            f"stockman-dashboard-{name}",
            {f"{name}.json": text},
            labels={"grafana_dashboard": "1"},
            annotations=_LITERAL,
        )


COMPONENT = Component(
    name="monitoring",
    about="Alert rules for the cluster and for every component that is on, with dashboards.",
    phase=Phase.PLATFORM,
    apps=_apps,
    files=outside_files,
    settings=MonitoringSettings,
    check=check,
    ready=(
        Condition(
            kind="monitoring.coreos.com/v1 PrometheusRule",
            name="stockman",
            expr="size(object.spec.groups) > 0",
            says="the rules are there",
            namespace="observability",
        ),
    ),
    trial=None,
    alerts=CLUSTER_ALERTS,
    troubles=(
        KnownProblem(
            shows="the rules are there, and Prometheus does not know them",
            because="its ruleSelector asks for labels that they do not have",
            fix="let it select every rule, or set that selector of your Prometheus to {}",
        ),
        KnownProblem(
            shows="alerts about etcd never fire, and its panels are empty",
            because="on Talos etcd tells its figures to the machine itself only",
            fix="patch the controllers as the how-to page on monitoring says, then set"
            " control_plane",
        ),
    ),
)
