"""The upgrades that tuppr carries out: controllers one by one, workers, Kubernetes."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.catalog.tuppr.settings import TupprSettings, settings_of

_VERSION = "tuppr.home-operations.com/v1alpha1"
_CONTROLLER = "node-role.kubernetes.io/control-plane"


def upgrades(scene: ComponentContext) -> tuple[Object, ...]:
    """An object for each kind of node that there is, and one for Kubernetes."""
    found = [_talos(scene, "controllers", "Exists", 1)]
    workers = sum(not node.is_controller for node in scene.desired.nodes)
    if workers:
        width = min(scene.desired.upgrade.width, workers)
        found.append(_talos(scene, "workers", "DoesNotExist", width))
    spec: Object = {
        "kubernetes": {"version": scene.cluster.kubernetes.version.tagged},
        "healthChecks": _health(settings_of(scene)),
    }
    return (*found, _object("KubernetesUpgrade", "kubernetes", spec, scene))


def _talos(scene: ComponentContext, name: str, operator: str, parallelism: int) -> Object:
    spec: Object = {
        "talos": {"version": scene.cluster.talos.version.tagged},
        "nodeSelector": {"matchExpressions": [{"key": _CONTROLLER, "operator": operator}]},
        "parallelism": parallelism,
        "policy": {
            "debug": False,
            "waitForVolumeDetach": True,
            "timeout": scene.desired.upgrade.budgets.node_timeout,
        },
        "healthChecks": _health(settings_of(scene)),
    }
    return _object("TalosUpgrade", name, spec, scene)


def _object(kind: str, name: str, spec: Object, scene: ComponentContext) -> Object:
    windows = [
        {"start": one.start, "duration": one.duration, "timezone": one.timezone}
        for one in scene.desired.upgrade.windows
    ]
    if windows:
        spec["maintenance"] = {"windows": windows}
    return {"apiVersion": _VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _health(settings: TupprSettings) -> list[Object]:
    found: list[Object] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "expr": 'status.conditions.exists(c, c.type == "Ready" && c.status == "True")',
            "timeout": "10m",
            "description": "every node is ready",
        }
    ]
    if settings.volsync_gate:
        found.append(
            {
                "apiVersion": "volsync.backube/v1alpha1",
                "kind": "ReplicationSource",
                # Before its first run a source has no conditions, and nothing to wait for.
                "expr": "!has(status.conditions) || status.conditions.all(c,"
                ' c.type != "Synchronizing" || c.status == "False")',
                "timeout": "1h",
                "description": "no backup of a volume is on its way",
            }
        )
    if settings.ceph_gate:
        found.append(
            {
                "apiVersion": "ceph.rook.io/v1",
                "kind": "CephCluster",
                "expr": 'has(status.ceph) && status.ceph.health in ["HEALTH_OK"]',
                "timeout": "30m",
                "description": "Ceph is healthy",
            }
        )
    return found
