"""What tells Prometheus where a component's figures are; only there while monitoring is on."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.catalog.app import Object, Sheet
from stockman.catalog.scene import Scene

MONITORING = "prometheus-operator-crds"
"""The component that turns monitoring on."""
_VERSION = "monitoring.coreos.com/v1"


def monitored(scene: Scene) -> bool:
    """Whether monitors and rules may be rendered."""
    return scene.on(MONITORING)


def pod_monitor(
    name: str, labels: Mapping[str, str], *, port: str = "metrics", https: bool = False
) -> Object:
    """Figures of every pod with these labels, in the monitor's own namespace."""
    endpoint: Object = {"port": port}
    if https:
        # Certificates of these ports are made by the programs themselves.
        endpoint |= {"scheme": "https", "tlsConfig": {"insecureSkipVerify": True}}
    return {
        "apiVersion": _VERSION,
        "kind": "PodMonitor",
        "metadata": {"name": name},
        "spec": {
            "podMetricsEndpoints": [endpoint],
            "selector": {"matchLabels": dict(labels)},
        },
    }


def pod_monitor_sheets(
    scene: Scene, labels: Mapping[str, str], *, https: bool = False
) -> tuple[Sheet, ...]:
    """The file of a component's monitor, where monitoring is on."""
    if not monitored(scene):
        return ()
    monitor = pod_monitor(scene.known.release, labels, https=https)
    return (Sheet(name="podmonitor.yaml", objects=(monitor,)),)
