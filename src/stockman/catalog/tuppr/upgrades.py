"""Settings of tuppr, and its upgrade objects: controllers one by one, workers, Kubernetes."""

from __future__ import annotations

from stockman.catalog.app import Object, manifest
from stockman.catalog.component import ComponentContext
from stockman.model.compatibility import Verdict, upgrade_compatibility
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.version import Version

_VERSION = "tuppr.home-operations.com/v1alpha1"
_CONTROLLER = "node-role.kubernetes.io/control-plane"


@record
class TupprSettings(Traced):
    """Checks before and during upgrades."""

    running_talos: Version | None = None
    """The Talos version that runs now, if known: steps that Talos does not support are then
    refused, because tuppr does not check. None: unknown."""
    volsync_gate: bool = False
    """Wait for running VolSync backups."""
    ceph_gate: bool = False
    """Wait until Ceph is healthy before each node."""


def check(context: ComponentContext, problems: Problems) -> None:
    """Refuse a version that cannot be reached in one step."""
    settings = context.settings_as(TupprSettings)
    running, desired = settings.running_talos, context.cluster.talos.version
    if running is None:
        return
    fit = upgrade_compatibility("Talos", running, desired)
    if fit.verdict is Verdict.REFUSED:
        problems.error(
            "tuppr.path",
            f"tuppr would upgrade Talos from {running} to {desired}",
            why=fit.reason,
            fix="set talos.version to an intermediate version",
            at=context.cluster.talos.where("version") or settings.where("running_talos"),
        )


def upgrades(context: ComponentContext) -> tuple[Object, ...]:
    """Return an object for each role of nodes, and one for Kubernetes."""
    objects = [_talos(context, "controllers", "Exists", 1)]
    workers = sum(not node.is_controller for node in context.desired.nodes)
    if workers:
        width = min(context.desired.upgrade.width, workers)
        objects.append(_talos(context, "workers", "DoesNotExist", width))
    spec: Object = {
        "kubernetes": {"version": context.cluster.kubernetes.version.tagged},
        "healthChecks": _health(context.settings_as(TupprSettings)),
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
        "healthChecks": _health(context.settings_as(TupprSettings)),
    }
    return _object("TalosUpgrade", name, spec, context)


def _object(kind: str, name: str, spec: Object, context: ComponentContext) -> Object:
    windows = [
        {"start": window.start, "duration": window.duration, "timezone": window.timezone}
        for window in context.desired.upgrade.windows
    ]
    if windows:
        spec["maintenance"] = {"windows": windows}
    return manifest(_VERSION, kind, name, **spec)


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
