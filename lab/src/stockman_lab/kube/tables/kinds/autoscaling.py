"""Tables of autoscalers, of either version."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.tables.ages import UNKNOWN, Ages
from stockman_lab.kube.tables.printing import (
    NONE,
    UNSET,
    Cells,
    Object,
    at,
    cells_of,
    created,
    listed,
    name_of,
    number,
    shortened,
    text,
)

_MOST = 2
_SOURCES = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


@cells_of("autoscaling/v2/horizontalpodautoscalers")
def autoscaler_cells(content: Object, ages: Ages) -> Cells:
    """Name, reference, targets, bounds, replicas, age."""
    target = at(content, "spec", "scaleTargetRef")
    return [
        name_of(content),
        f"{text(target, 'kind')}/{text(target, 'name')}",
        shortened(_metrics(content), _MOST, ", ") or NONE,
        text(content, "spec", "minReplicas", default=UNSET),
        number(content, "spec", "maxReplicas"),
        number(content, "status", "currentReplicas"),
        ages.since(created(content)),
    ]


def _metrics(content: Object) -> Iterator[str]:
    statuses = listed(content, "status", "currentMetrics")
    for place, metric in enumerate(listed(content, "spec", "metrics")):
        source = _SOURCES.get(text(metric, "type"))
        if source is None:
            yield "<unknown type>"
            continue
        status = at(statuses[place], source) if place < len(statuses) else None
        yield _metric(source, at(metric, source), at(status, "current"))


def _metric(word: str, given: Object, current: object) -> str:
    target = at(given, "target")
    average = at(target, "averageValue")
    is_resource = word in ("resource", "containerResource")
    start = f"{text(given, 'name')}: " if is_resource else ""
    if average is not None or word == "pods":
        end = " (avg)" if word in ("external", "object") else ""
        return f"{start}{text(current, 'averageValue', default=UNKNOWN)}/{average}{end}"
    if is_resource:
        wanted, used = at(target, "averageUtilization"), at(current, "averageUtilization")
        said = [f"{used}%" if used is not None else UNKNOWN]
        said.append(f"{wanted}%" if wanted is not None else "<auto>")
        return start + "/".join(said)
    return f"{text(current, 'value', default=UNKNOWN)}/{text(target, 'value')}"


@cells_of("autoscaling/v1/horizontalpodautoscalers")
def old_autoscaler_cells(content: Object, ages: Ages) -> Cells:
    """The same of an autoscaler that knows of processors alone."""
    wanted = at(content, "spec", "targetCPUUtilizationPercentage")
    used = at(content, "status", "currentCPUUtilizationPercentage")
    spec, status = dict(at(content, "spec") or {}), dict(at(content, "status") or {})
    if wanted is not None:
        resource = {"name": "cpu", "target": {"averageUtilization": wanted}}
        spec["metrics"] = [{"type": "Resource", "resource": resource}]
    if used is not None:
        status["currentMetrics"] = [{"resource": {"current": {"averageUtilization": used}}}]
    return autoscaler_cells({**content, "spec": spec, "status": status}, ages)
