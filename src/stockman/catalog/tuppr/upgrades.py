"""The upgrade objects of tuppr: controllers one by one, workers, Kubernetes."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.catalog.tuppr.settings import TupprSettings, settings_of

_VERSION = "tuppr.home-operations.com/v1alpha1"
_CONTROLLER = "node-role.kubernetes.io/control-plane"


def upgrades(context: ComponentContext) -> tuple[Object, ...]:
    """Return an object for each role of nodes, and one for Kubernetes."""
    objects = [_talos(context, "controllers", "Exists", 1)]
    workers = sum(not node.is_controller for node in context.desired.nodes)
    if workers:
        width = min(context.desired.upgrade.width, workers)
        objects.append(_talos(context, "workers", "DoesNotExist", width))
    spec: Object = {
        "kubernetes": {"version": context.cluster.kubernetes.version.tagged},
        "healthChecks": _health(settings_of(context)),
    }
    return (*objects, _object("KubernetesUpgrade", "kubernetes", spec, context))


def _talos(context: ComponentContext, name: str, operator: str, parallelism: int) -> Object:
    spec: Object = {
        "talos": {"version": context.cluster.talos.version.tagged},
        "nodeSelector": {"matchExpressions": [{"key": _CONTROLLER, "operator": operator}]},
        "parallelism": parallelism,
        "policy": {
            "debug": False,
            "waitForVolumeDetach": True,
            "timeout": context.desired.upgrade.budgets.node_timeout,
        },
        "healthChecks": _health(settings_of(context)),
    }
    return _object("TalosUpgrade", name, spec, context)


def _object(kind: str, name: str, spec: Object, context: ComponentContext) -> Object:
    windows = [
        {"start": window.start, "duration": window.duration, "timezone": window.timezone}
        for window in context.desired.upgrade.windows
    ]
    if windows:
        spec["maintenance"] = {"windows": windows}
    return {"apiVersion": _VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _health(settings: TupprSettings) -> list[Object]:
    checks: list[Object] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "expr": 'status.conditions.exists(c, c.type == "Ready" && c.status == "True")',
            "timeout": "10m",
            "description": "every node is ready",
        }
    ]
    if settings.volsync_gate:
        checks.append(
            {
                "apiVersion": "volsync.backube/v1alpha1",
                "kind": "ReplicationSource",
                # Before its first run a source has no conditions, and there is nothing to wait for.
                "expr": "!has(status.conditions) || status.conditions.all(c,"
                ' c.type != "Synchronizing" || c.status == "False")',
                "timeout": "1h",
                "description": "no volume backup is running",
            }
        )
    if settings.ceph_gate:
        checks.append(
            {
                "apiVersion": "ceph.rook.io/v1",
                "kind": "CephCluster",
                "expr": 'has(status.ceph) && status.ceph.health in ["HEALTH_OK"]',
                "timeout": "30m",
                "description": "Ceph is healthy",
            }
        )
    return checks
