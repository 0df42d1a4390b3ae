"""GPUs before Talos 1.13: the device plugin, and a runtime class for pods."""

from __future__ import annotations

from stockman.catalog.app import Object, Sheet
from stockman.catalog.component import ComponentContext
from stockman.catalog.objects import helm_release, helm_repository, merge_values

_NAME = "nvidia-device-plugin"
_RUNTIME: Object = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "nvidia"},
    "handler": "nvidia",
}


def plugin_sheets(context: ComponentContext, nodes: tuple[str, ...]) -> tuple[Sheet, ...]:
    """Return the files of the device plugin, for nodes with a GPU."""
    source = context.facts.artifacts[_NAME]
    values: Object = {"runtimeClassName": "nvidia"}
    if nodes:
        values["affinity"] = _gpu_nodes_only(nodes)
    chart: Object = {
        "chart": {
            "spec": {
                "chart": _NAME,
                "version": source.tag,
                "sourceRef": {"kind": "HelmRepository", "name": _NAME},
            }
        }
    }
    release = helm_release(_NAME, chart, merge_values(values, context.options.values))
    return (
        Sheet(name="helmrelease.yaml", objects=(release,)),
        Sheet(name="helmrepository.yaml", objects=(helm_repository(_NAME, source.repository),)),
        Sheet(name="runtimeclass.yaml", objects=(_RUNTIME,)),
    )


def _gpu_nodes_only(nodes: tuple[str, ...]) -> Object:
    """Replaces the chart's node affinity, which needs labels that do not exist here."""
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": sorted(nodes)}
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [expression]}]
            }
        }
    }
