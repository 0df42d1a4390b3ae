"""Settings of monitoring: inside and outside of the cluster, and of the control plane."""

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
    """Where rules are written, and whether the control plane is scraped."""

    outside: bool = False
    """Write rules, dashboards and a scrape example to `monitoring/`, for Prometheus and Grafana
    outside of the cluster."""
    dashboards: bool = True
    """Install dashboards in the cluster, where the Grafana sidecar finds them."""
    control_plane: bool = False
    """Scrape etcd, kube-scheduler and kube-controller-manager. On Talos they listen on 127.0.0.1
    unless a patch of the controllers changes that."""
    etcd_port: Annotated[int, Between(1, 65_535)] = 2381
    """Port of `listen-metrics-urls` in that patch."""


def check(context: ComponentContext, problems: Problems) -> None:
    """Report rules that would not be used."""
    if not is_monitoring_on(context) and not context.settings_as(MonitoringSettings).outside:
        problems.error(
            "monitoring.nowhere",
            "monitoring is enabled, but its rules are not used",
            why=(
                f"{MONITORING} is disabled, so the rules are not installed, and outside is "
                "false too"
            ),
            fix=f"set components.{MONITORING}.enabled or settings.outside of monitoring to true",
            at=context.options.where("enabled"),
        )
