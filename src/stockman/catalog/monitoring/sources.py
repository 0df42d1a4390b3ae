"""Objects that let Prometheus scrape the control plane, once machines expose its metrics."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.catalog.monitoring.settings import settings_of

SYSTEM = "kube-system"
"""Namespace of the control plane pods; a Service only selects pods of its own namespace."""
_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"
CONTROL_PLANE = {"kube-controller-manager": 10257, "kube-scheduler": 10259}
"""Control plane programs that run as pods, with their metrics ports."""


def etcd_targets(context: ComponentContext) -> list[str]:
    """Return the metrics addresses of etcd, which does not run in a pod on Talos."""
    port = settings_of(context).etcd_port
    return [f"{node.address.ip}:{port}" for node in context.desired.nodes if node.is_controller]


def control_plane_sources(context: ComponentContext) -> tuple[Object, ...]:
    """Return Services and monitors for the pods, and the addresses of etcd."""
    etcd: Object = {
        "apiVersion": "monitoring.coreos.com/v1alpha1",
        "kind": "ScrapeConfig",
        "metadata": {"name": "etcd"},
        "spec": {"jobName": "etcd", "staticConfigs": [{"targets": etcd_targets(context)}]},
    }
    pods = [item for name, port in CONTROL_PLANE.items() for item in _pod(name, port)]
    return (etcd, *pods)


def _pod(name: str, port: int) -> tuple[Object, Object]:
    labels: Object = {"app.kubernetes.io/name": name}
    service: Object = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "clusterIP": "None",
            "selector": {"k8s-app": name},
            "ports": [{"name": "metrics", "port": port}],
        },
    }
    monitor: Object = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {"name": name},
        "spec": {
            "jobLabel": "app.kubernetes.io/name",
            "selector": {"matchLabels": labels},
            "endpoints": [
                {
                    "port": "metrics",
                    "scheme": "https",
                    # These programs create their own certificates.
                    "tlsConfig": {"insecureSkipVerify": True},
                    "bearerTokenFile": _TOKEN,
                }
            ],
        },
    }
    return service, monitor
