"""Alert rules in the format of Prometheus and its operator."""

from __future__ import annotations

from collections.abc import Iterable

from stockman.catalog.app import Object
from stockman.catalog.component import Alert, ComponentContext
from stockman.catalog.monitoring.cluster_alerts import (
    CLUSTER_ALERTS,
    ETCD_ALERTS,
    OUTSIDE_ALERTS,
    quorum_alerts,
)
from stockman.catalog.monitoring.settings import settings_of
from stockman.catalog.registry import component

_OWN = "monitoring"


def rule_groups(context: ComponentContext) -> list[Object]:
    """Return a group of rules for the cluster, and one for each component with alerts."""
    groups = [_group(context, "cluster", CLUSTER_ALERTS)]
    if settings_of(context).control_plane:
        controllers = sum(node.is_controller for node in context.desired.nodes)
        groups.append(_group(context, "etcd", (*ETCD_ALERTS, *quorum_alerts(controllers))))
    for name in sorted(context.enabled):
        alerts = component(name).alerts
        if alerts and name != _OWN:
            groups.append(_group(context, name, alerts))
    return groups


def outside_groups(context: ComponentContext) -> list[Object]:
    """Return the same rules, and those that need a Prometheus outside of the cluster."""
    return [_group(context, "outside", OUTSIDE_ALERTS), *rule_groups(context)]


def _group(context: ComponentContext, name: str, alerts: Iterable[Alert]) -> Object:
    return {"name": f"stockman-{name}", "rules": [_rule(context, alert) for alert in alerts]}


def _rule(context: ComponentContext, alert: Alert) -> Object:
    return {
        "alert": alert.name,
        "expr": alert.expr,
        "for": alert.holds,
        "labels": {"severity": alert.severity, "cluster": context.cluster.name},
        "annotations": {"summary": alert.summary},
    }
