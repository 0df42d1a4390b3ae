"""Monitoring: alert rules for the cluster and all components, dashboards, monitors."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition
from stockman.catalog.monitoring.alerts import CLUSTER_ALERTS, rule_groups
from stockman.catalog.monitoring.dashboards import dashboards
from stockman.catalog.monitoring.settings import MonitoringSettings, check
from stockman.catalog.monitoring.sources import SYSTEM, control_plane_sources, outside_files
from stockman.catalog.objects import config_map, is_monitoring_on

_LITERAL: Object = {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}
"""Disable substitution by Flux: a dollar sign in these files belongs to Prometheus or Grafana."""


def _apps(context: ComponentContext) -> Iterator[App]:
    if not is_monitoring_on(context):
        return
    sheets = [Sheet(name="prometheusrule.yaml", objects=(_rules(context),))]
    settings = context.settings_as(MonitoringSettings)
    if settings.dashboards:
        sheets.append(Sheet(name="dashboards.yaml", objects=tuple(_dashboards(context))))
    yield App(name="monitoring", namespace=context.namespace, sheets=tuple(sheets))
    if settings.control_plane:
        yield App(
            name="monitoring-control-plane",
            namespace=SYSTEM,
            folder="control-plane",
            sheets=(Sheet(name="sources.yaml", objects=control_plane_sources(context)),),
        )


def _rules(context: ComponentContext) -> Object:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "stockman", "annotations": _LITERAL},
        "spec": {"groups": rule_groups(context)},
    }


def _dashboards(context: ComponentContext) -> Iterator[Object]:
    for name, text in dashboards(context).items():
        yield config_map(
            f"stockman-dashboard-{name}",
            {f"{name}.json": text},
            labels={"grafana_dashboard": "1"},
            annotations=_LITERAL,
        )


COMPONENT = Component(
    name="monitoring",
    about="Alert rules and dashboards for the cluster and all enabled components.",
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
            says="the rules exist",
            namespace="observability",
        ),
    ),
    alerts=CLUSTER_ALERTS,
    known_problems=(
        KnownProblem(
            symptom="the rules exist, but Prometheus does not load them",
            cause="its ruleSelector requires labels that they do not have",
            fix="select all rules: set the ruleSelector of your Prometheus to {}",
        ),
        KnownProblem(
            symptom="alerts about etcd never fire, and its panels are empty",
            cause="on Talos, etcd only listens for metrics on the machine itself",
            fix="patch the controllers as described in the monitoring guide, then set "
            "control_plane",
        ),
    ),
)
