"""Grafana dashboards with two kinds of panels."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.catalog.monitoring.settings import MonitoringSettings

_SOURCE: Object = {"type": "prometheus", "uid": "$datasource"}
_WIDTH, _HEIGHT, _COLUMNS = 12, 8, 24


class Panel(NamedTuple):
    """One panel of a dashboard."""

    title: str
    expr: str
    legend: str = ""
    unit: str = "short"
    kind: str = "timeseries"
    needs: str = ""
    """Component that exports the metrics. Empty: the cluster itself."""


_CLUSTER = (
    Panel("Available API servers", 'sum(up{job="apiserver"})', kind="stat"),
    Panel(
        "Ready nodes",
        'sum(kube_node_status_condition{condition="Ready",status="true"})',
        kind="stat",
    ),
    Panel(
        "API requests",
        "sum by (code) (rate(apiserver_request_total[5m]))",
        "{{code}}",
        "reqps",
    ),
    Panel(
        "Pending pods",
        'sum by (namespace) (kube_pod_status_phase{phase="Pending"})',
        "{{namespace}}",
    ),
    Panel(
        "Flux objects not ready",
        'count by (kind) (flux_resource_info{ready="False"})',
        "{{kind}}",
        needs="flux-instance",
    ),
    Panel(
        "Certificates: remaining time",
        "min by (name) (certmanager_certificate_expiration_timestamp_seconds) - time()",
        "{{name}}",
        "s",
        needs="cert-manager",
    ),
    Panel(
        "Nodes unreachable for Cilium",
        "max by (pod) (cilium_unreachable_nodes)",
        "{{pod}}",
        needs="cilium",
    ),
    Panel(
        "Age of the last backup",
        'time() - max(kube_cronjob_status_last_successful_time{cronjob="talos-backup"})',
        unit="s",
        kind="stat",
        needs="talos-backup",
    ),
)
_ETCD = (
    Panel("Members with a leader", 'sum(etcd_server_has_leader{job="etcd"})', kind="stat"),
    Panel(
        "Leader changes",
        'increase(etcd_server_leader_changes_seen_total{job="etcd"}[1h])',
        "{{instance}}",
    ),
    Panel(
        "Database size",
        'etcd_mvcc_db_total_size_in_bytes{job="etcd"}',
        "{{instance}}",
        "bytes",
    ),
    Panel(
        "Disk write duration (p99)",
        "histogram_quantile(0.99, sum by (le, instance)"
        ' (rate(etcd_disk_wal_fsync_duration_seconds_bucket{job="etcd"}[5m])))',
        "{{instance}}",
        "s",
    ),
)
_PROXMOX = (
    Panel(
        "Requests to Proxmox VE",
        "sum by (request) (rate(proxmox_api_request_duration_seconds_count[5m]))",
        "{{request}}",
        "reqps",
    ),
    Panel(
        "Failures",
        "sum by (request) (rate(proxmox_api_request_errors_total[5m]))",
        "{{request}}",
        "reqps",
    ),
    Panel(
        "Request duration (p90)",
        "histogram_quantile(0.9, sum by (le, request)"
        " (rate(proxmox_api_request_duration_seconds_bucket[15m])))",
        "{{request}}",
        "s",
    ),
    Panel(
        "Free space on volumes",
        "kubelet_volume_stats_available_bytes / kubelet_volume_stats_capacity_bytes",
        "{{namespace}}/{{persistentvolumeclaim}}",
        "percentunit",
    ),
)
PANELS = (*_CLUSTER, *_ETCD, *_PROXMOX)


def dashboards(context: ComponentContext) -> dict[str, str]:
    """Return the dashboards for the enabled components, by file name without suffix."""
    boards = {
        "cluster": _dashboard(
            "Cluster",
            [panel for panel in _CLUSTER if not panel.needs or context.is_enabled(panel.needs)],
        )
    }
    if context.settings_as(MonitoringSettings).control_plane:
        boards["etcd"] = _dashboard("etcd", _ETCD)
    if any(context.is_enabled(name) for name in ("proxmox-ccm", "proxmox-csi")):
        boards["proxmox"] = _dashboard("Proxmox VE", _PROXMOX)
    return boards


def _dashboard(title: str, panels: Iterable[Panel]) -> str:
    variable: Object = {"name": "datasource", "type": "datasource", "query": "prometheus"}
    content: Object = {
        "title": f"stockman: {title}",
        "uid": f"stockman-{title.lower().replace(' ', '-')}",
        "tags": ["stockman"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [variable]},
        "panels": [_panel(index, panel) for index, panel in enumerate(panels)],
    }
    return json.dumps(content, indent=2) + "\n"


def _panel(index: int, panel: Panel) -> Object:
    left = index * _WIDTH % _COLUMNS
    top = index * _WIDTH // _COLUMNS * _HEIGHT
    target: Object = {"refId": "A", "datasource": _SOURCE, "expr": panel.expr}
    if panel.legend:
        target["legendFormat"] = panel.legend
    return {
        "id": index + 1,
        "type": panel.kind,
        "title": panel.title,
        "datasource": _SOURCE,
        "gridPos": {"x": left, "y": top, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
        "targets": [target],
    }
