"""Alert rules in the form that Prometheus and its operator share."""

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


def rule_groups(scene: ComponentContext) -> list[Object]:
    """A group of rules for the cluster, and one for each component that has any."""
    found = [_group(scene, "cluster", CLUSTER_ALERTS)]
    if settings_of(scene).control_plane:
        controllers = sum(node.is_controller for node in scene.desired.nodes)
        found.append(_group(scene, "etcd", (*ETCD_ALERTS, *quorum_alerts(controllers))))
    for name in sorted(scene.enabled):
        alerts = component(name).alerts
        if alerts and name != _OWN:
            found.append(_group(scene, name, alerts))
    return found


def outside_groups(scene: ComponentContext) -> list[Object]:
    """The same rules, and those that need somebody outside."""
    return [_group(scene, "outside", OUTSIDE_ALERTS), *rule_groups(scene)]


def _group(scene: ComponentContext, name: str, alerts: Iterable[Alert]) -> Object:
    return {"name": f"stockman-{name}", "rules": [_rule(scene, one) for one in alerts]}


def _rule(scene: ComponentContext, alert: Alert) -> Object:
    return {
        "alert": alert.name,
        "expr": alert.expr,
        "for": alert.holds,
        "labels": {"severity": alert.severity, "cluster": scene.cluster.name},
        "annotations": {"summary": alert.summary},
    }
