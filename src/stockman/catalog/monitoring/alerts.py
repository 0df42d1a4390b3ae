"""Alerts about the cluster itself, and all rules in the format of Prometheus.

Components define their own alerts.
"""

from __future__ import annotations

from collections.abc import Iterable

from stockman.catalog.app import Object
from stockman.catalog.component import Alert, ComponentContext
from stockman.catalog.monitoring.settings import MonitoringSettings
from stockman.catalog.registry import component

CLUSTER_ALERTS: tuple[Alert, ...] = (
    Alert(
        name="MonitoringAlive",
        expr="vector(1)",
        holds="0m",
        severity="none",
        summary="Always firing. If this alert is missing, the monitoring itself is down.",
        metrics=(),
    ),
    Alert(
        name="ClusterDown",
        expr='absent(up{job="apiserver"} == 1)',
        holds="3m",
        severity="critical",
        summary="No API server of the cluster responds.",
        metrics=("up",),
    ),
    Alert(
        name="ApiServerDown",
        expr='up{job="apiserver"} == 0',
        holds="10m",
        severity="warning",
        summary="The API server {{ $labels.instance }} does not respond.",
        metrics=("up",),
    ),
    Alert(
        name="ApiServerErrors",
        expr='sum(rate(apiserver_request_total{code=~"5.."}[5m]))'
        " / sum(rate(apiserver_request_total[5m])) > 0.05",
        holds="10m",
        severity="critical",
        summary="More than 5 % of requests to the Kubernetes API fail with a server error.",
        metrics=("apiserver_request_total",),
    ),
    Alert(
        name="ClientCertificateEndsSoon",
        expr="histogram_quantile(0.01, sum by (le)"
        " (rate(apiserver_client_certificate_expiration_seconds_bucket[5m]))) < 7 * 24 * 3600"
        " and sum(rate(apiserver_client_certificate_expiration_seconds_count[5m])) > 0",
        holds="15m",
        severity="warning",
        summary="A client uses the Kubernetes API with a certificate that expires within a week.",
        metrics=(
            "apiserver_client_certificate_expiration_seconds_bucket",
            "apiserver_client_certificate_expiration_seconds_count",
        ),
    ),
    Alert(
        name="NodeNotReady",
        expr='kube_node_status_condition{condition="Ready",status="true"} == 0',
        holds="10m",
        severity="critical",
        summary="The node {{ $labels.node }} is not ready: its machine, its kubelet or its"
        " network is down.",
        metrics=("kube_node_status_condition",),
    ),
    Alert(
        name="NodeUnderPressure",
        expr="kube_node_status_condition{"
        'condition=~"MemoryPressure|DiskPressure|PIDPressure",status="true"} == 1',
        holds="10m",
        severity="warning",
        summary="The node {{ $labels.node }} reports {{ $labels.condition }}.",
        metrics=("kube_node_status_condition",),
    ),
    Alert(
        name="NodeStaysCordoned",
        expr="kube_node_spec_unschedulable == 1",
        holds="6h",
        severity="warning",
        summary="The node {{ $labels.node }} has been unschedulable for six hours.",
        metrics=("kube_node_spec_unschedulable",),
    ),
    Alert(
        name="PodsCannotBePlaced",
        expr='sum(kube_pod_status_phase{phase="Pending"}) by (namespace) > 0',
        holds="30m",
        severity="warning",
        summary="Pods of {{ $labels.namespace }} have been pending for half an hour.",
        metrics=("kube_pod_status_phase",),
    ),
    Alert(
        name="VolumeAlmostFull",
        expr="kubelet_volume_stats_available_bytes / kubelet_volume_stats_capacity_bytes < 0.05",
        holds="15m",
        severity="warning",
        summary="The volume of {{ $labels.namespace }}/{{ $labels.persistentvolumeclaim }} "
        "has less than 5 % free space.",
        metrics=("kubelet_volume_stats_available_bytes", "kubelet_volume_stats_capacity_bytes"),
    ),
)

_ETCD = 'job="etcd"'
ETCD_ALERTS: tuple[Alert, ...] = (
    Alert(
        name="EtcdNoLeader",
        expr=f"etcd_server_has_leader{{{_ETCD}}} == 0",
        holds="1m",
        severity="critical",
        summary="The etcd member {{ $labels.instance }} has no leader.",
        metrics=("etcd_server_has_leader",),
    ),
    Alert(
        name="EtcdLeaderChanges",
        expr=f"increase(etcd_server_leader_changes_seen_total{{{_ETCD}}}[1h]) > 4",
        holds="5m",
        severity="warning",
        summary="etcd elected a leader more than four times in an hour.",
        metrics=("etcd_server_leader_changes_seen_total",),
    ),
    Alert(
        name="EtcdDatabaseLarge",
        expr=f"etcd_mvcc_db_total_size_in_bytes{{{_ETCD}}}"
        f" / etcd_server_quota_backend_bytes{{{_ETCD}}} > 0.8",
        holds="10m",
        severity="critical",
        summary="The database of {{ $labels.instance }} is more than four fifths of what etcd"
        " allows; at the limit the cluster takes no more changes.",
        metrics=("etcd_mvcc_db_total_size_in_bytes", "etcd_server_quota_backend_bytes"),
    ),
    Alert(
        name="EtcdDiskSlow",
        expr="histogram_quantile(0.99, sum by (le, instance)"
        f" (rate(etcd_disk_wal_fsync_duration_seconds_bucket{{{_ETCD}}}[5m]))) > 0.1",
        holds="15m",
        severity="warning",
        summary="Writes to the disk of {{ $labels.instance }} take more than 100 ms; etcd "
        "becomes unstable.",
        metrics=("etcd_disk_wal_fsync_duration_seconds_bucket",),
    ),
)
"""Only if etcd metrics can be read."""


def quorum_alerts(controllers: int) -> tuple[Alert, ...]:
    """Return the alert before etcd loses its quorum; none for a single controller."""
    quorum = controllers // 2 + 1
    if controllers == quorum:
        return ()
    return (
        Alert(
            name="EtcdQuorumAtRisk",
            expr=f"(sum(up{{{_ETCD}}}) or vector(0)) <= {quorum}",
            holds="5m",
            severity="critical",
            summary=f"Only {quorum} of {controllers} etcd members respond: losing another one "
            "stops the cluster.",
            metrics=("up",),
        ),
    )


OUTSIDE_ALERTS: tuple[Alert, ...] = (
    Alert(
        name="ClusterUnreachable",
        expr='probe_success{job="kubernetes-api"} == 0',
        holds="2m",
        severity="critical",
        summary="The Kubernetes API does not respond at {{ $labels.instance }}.",
        metrics=("probe_success",),
    ),
    Alert(
        name="ClusterNotWatched",
        expr='absent(probe_success{job="kubernetes-api"})',
        holds="5m",
        severity="critical",
        summary="The blackbox exporter is down, so the cluster is not monitored from outside.",
        metrics=("probe_success",),
    ),
    Alert(
        name="ApiCertificateEndsSoon",
        expr='probe_ssl_earliest_cert_expiry{job="kubernetes-api"} - time() < 14 * 24 * 3600',
        holds="1h",
        severity="warning",
        summary="The certificate of the Kubernetes API expires within two weeks.",
        metrics=("probe_ssl_earliest_cert_expiry",),
    ),
    Alert(
        name="MachineUnreachable",
        expr='probe_success{job="talos-api"} == 0',
        holds="10m",
        severity="warning",
        summary="The Talos API of {{ $labels.instance }} does not respond.",
        metrics=("probe_success",),
    ),
)
"""For a Prometheus outside of the cluster, which survives an outage of the cluster."""

_OWN = "monitoring"


def rule_groups(context: ComponentContext) -> list[Object]:
    """Return a group of rules for the cluster, and one for each component with alerts."""
    groups = [_group(context, "cluster", CLUSTER_ALERTS)]
    if context.settings_as(MonitoringSettings).control_plane:
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
