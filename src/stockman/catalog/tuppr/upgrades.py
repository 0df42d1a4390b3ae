"""Settings of tuppr, and its upgrade objects: controllers one by one, workers, Kubernetes."""

from __future__ import annotations

from stockman.catalog.app import Object, manifest
from stockman.catalog.component import ComponentContext
from stockman.model.compatibility import Verdict, upgrade_compatibility
from stockman.model.origin import Traced
from stockman.model.pattern import pattern
from stockman.model.policies import HealthGate
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
        "healthChecks": _health(context),
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
        "healthChecks": _health(context),
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


def _health(context: ComponentContext) -> list[Object]:
    settings = context.settings_as(TupprSettings)
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
    return [*checks, *map(_gate, context.desired.upgrade.gates)]


def _gate(gate: HealthGate) -> Object:
    """Return a gate of the configuration as a health check."""
    check: Object = {
        "apiVersion": gate.api_version,
        "kind": gate.kind,
        "expr": gate.expr,
        "timeout": gate.timeout,
        "description": gate.name,
    }
    if gate.namespace is not None:
        check["namespace"] = gate.namespace
    if gate.object_name is not None:
        check["name"] = gate.object_name
    if gate.selector is not None:
        check["labelSelector"] = {
            "matchExpressions": [_requirement(part) for part in _PARTS.findall(gate.selector)]
        }
    return check


_PARTS = pattern(r"(?:[^,()]|\([^()]*\))+")
_SET = pattern(r"\s*(\S+)\s+(in|notin)\s*\(([^()]*)\)\s*")
_EQUALITY = pattern(r"\s*([^\s=!]+)\s*(==?|!=)\s*([^\s=!]*)\s*")
_OPERATORS = {"in": "In", "notin": "NotIn", "=": "In", "==": "In", "!=": "NotIn"}


def _requirement(text: str) -> Object:
    """Return one requirement of a label selector, in the syntax of kubectl, as an expression."""
    match = _SET.fullmatch(text) or _EQUALITY.fullmatch(text)
    if match is None:
        key = text.strip()
        operator = "DoesNotExist" if key.startswith("!") else "Exists"
        return {"key": key.lstrip("! "), "operator": operator}
    values = [value.strip() for value in match[3].split(",")]
    return {"key": match[1], "operator": _OPERATORS[match[2]], "values": values}
