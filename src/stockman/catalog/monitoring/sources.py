"""What tells Prometheus where the figures of the control plane are, once machines show them."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.catalog.monitoring.settings import settings_of

SYSTEM = "kube-system"
"""Where the pods of the control plane are; a Service finds pods of its own namespace only."""
_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"
CONTROL_PLANE = {"kube-controller-manager": 10257, "kube-scheduler": 10259}
"""Programs of the control plane that run as pods, with the port of their figures."""


def etcd_targets(scene: ComponentContext) -> list[str]:
    """Where each member of etcd tells its figures; etcd is no pod on Talos."""
    port = settings_of(scene).etcd_port
    return [f"{node.address.ip}:{port}" for node in scene.desired.nodes if node.is_controller]


def control_plane_sources(scene: ComponentContext) -> tuple[Object, ...]:
    """Services and monitors of the pods, and the addresses of etcd."""
    etcd: Object = {
        "apiVersion": "monitoring.coreos.com/v1alpha1",
        "kind": "ScrapeConfig",
        "metadata": {"name": "etcd"},
        "spec": {"jobName": "etcd", "staticConfigs": [{"targets": etcd_targets(scene)}]},
    }
    pods = [one for name, port in CONTROL_PLANE.items() for one in _pod(name, port)]
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
                    # Their certificates are made by the programs themselves.
                    "tlsConfig": {"insecureSkipVerify": True},
                    "bearerTokenFile": _TOKEN,
                }
            ],
        },
    }
    return service, monitor
