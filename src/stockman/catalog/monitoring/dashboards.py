"""Dashboards for Grafana, small and made from panels of two kinds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.catalog.monitoring.settings import settings_of

_SOURCE: Object = {"type": "prometheus", "uid": "$datasource"}
_WIDTH, _HEIGHT, _COLUMNS = 12, 8, 24


class Panel(NamedTuple):
    """One question that a dashboard answers."""

    title: str
    expr: str
    legend: str = ""
    unit: str = "short"
    kind: str = "timeseries"
    needs: str = ""
    """Component whose figures these are. Empty: the cluster's own."""


_CLUSTER = (
    Panel("API servers that answer", 'sum(up{job="apiserver"})', kind="stat"),
    Panel(
        "Nodes that are ready",
        'sum(kube_node_status_condition{condition="Ready",status="true"})',
        kind="stat",
    ),
    Panel(
        "Requests to the API",
        "sum by (code) (rate(apiserver_request_total[5m]))",
        "{{code}}",
        "reqps",
    ),
    Panel(
        "Pods that wait",
        'sum by (namespace) (kube_pod_status_phase{phase="Pending"})',
        "{{namespace}}",
    ),
    Panel(
        "Flux objects that are not ready",
        'count by (kind) (flux_resource_info{ready="False"})',
        "{{kind}}",
        needs="flux-instance",
    ),
    Panel(
        "Certificates: time left",
        "min by (name) (certmanager_certificate_expiration_timestamp_seconds) - time()",
        "{{name}}",
        "s",
        needs="cert-manager",
    ),
    Panel(
        "Nodes that Cilium cannot reach",
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
    Panel("Members that see a leader", 'sum(etcd_server_has_leader{job="etcd"})', kind="stat"),
    Panel(
        "Changes of the leader",
        'increase(etcd_server_leader_changes_seen_total{job="etcd"}[1h])',
        "{{instance}}",
    ),
    Panel(
        "Size of the database",
        'etcd_mvcc_db_total_size_in_bytes{job="etcd"}',
        "{{instance}}",
        "bytes",
    ),
    Panel(
        "Time to write, 99 of 100",
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
        "Time of requests, 9 of 10",
        "histogram_quantile(0.9, sum by (le, request)"
        " (rate(proxmox_api_request_duration_seconds_bucket[15m])))",
        "{{request}}",
        "s",
    ),
    Panel(
        "Room on volumes",
        "kubelet_volume_stats_available_bytes / kubelet_volume_stats_capacity_bytes",
        "{{namespace}}/{{persistentvolumeclaim}}",
        "percentunit",
    ),
)
PANELS = (*_CLUSTER, *_ETCD, *_PROXMOX)


def dashboards(scene: ComponentContext) -> dict[str, str]:
    """The dashboards that make sense for what is on, by file name without its ending."""
    found = {
        "cluster": _dashboard(
            "Cluster", [one for one in _CLUSTER if not one.needs or scene.on(one.needs)]
        )
    }
    if settings_of(scene).control_plane:
        found["etcd"] = _dashboard("etcd", _ETCD)
    if any(scene.on(name) for name in ("proxmox-ccm", "proxmox-csi")):
        found["proxmox"] = _dashboard("Proxmox VE", _PROXMOX)
    return found


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
        "panels": [_panel(index, one) for index, one in enumerate(panels)],
    }
    return json.dumps(content, indent=2) + "\n"


def _panel(index: int, one: Panel) -> Object:
    left = index * _WIDTH % _COLUMNS
    top = index * _WIDTH // _COLUMNS * _HEIGHT
    target: Object = {"refId": "A", "datasource": _SOURCE, "expr": one.expr}
    if one.legend:
        target["legendFormat"] = one.legend
    return {
        "id": index + 1,
        "type": one.kind,
        "title": one.title,
        "datasource": _SOURCE,
        "gridPos": {"x": left, "y": top, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": one.unit}, "overrides": []},
        "targets": [target],
    }
