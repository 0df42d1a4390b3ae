"""Settings of monitoring: inside of the cluster, outside of it, and what can be read."""

from __future__ import annotations

from typing import Annotated

from stockman.catalog.component import ComponentContext
from stockman.catalog.objects import MONITORING, is_monitoring_on
from stockman.model.formats import Between
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record


@record
class MonitoringSettings(Traced):
    """Where the rules go, and which parts of the control plane can be read."""

    outside: bool = False
    """Whether rules, dashboards and an example of how to read the cluster are written to
    `monitoring/`, for a Prometheus and a Grafana outside of the cluster."""
    dashboards: bool = True
    """Whether dashboards are put into the cluster, where the sidecar of Grafana finds them."""
    control_plane: bool = False
    """Whether etcd, kube-scheduler and kube-controller-manager are read. On Talos they listen on
    127.0.0.1 until a patch of the controllers says otherwise."""
    etcd_port: Annotated[int, Between(1, 65_535)] = 2381
    """Port of `listen-metrics-urls` in that patch."""


def settings_of(scene: ComponentContext) -> MonitoringSettings:
    """The component's settings."""
    settings = scene.settings
    return settings if isinstance(settings, MonitoringSettings) else MonitoringSettings()


def check(scene: ComponentContext, problems: Problems) -> None:
    """Report rules that would go nowhere."""
    if not is_monitoring_on(scene) and not settings_of(scene).outside:
        problems.error(
            "monitoring.nowhere",
            "monitoring is on, and its rules go nowhere",
            why=f"{MONITORING} is off, so the cluster has no rules, and outside is off too",
            fix=f"set components.{MONITORING}.enabled, or settings.outside of monitoring, to true",
            at=scene.wish.where("enabled"),
        )
