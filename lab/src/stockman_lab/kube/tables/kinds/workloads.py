"""Tables of what runs pods for ever."""

from __future__ import annotations

from stockman_lab.kube.tables.ages import Ages
from stockman_lab.kube.tables.printing import (
    NONE,
    Cells,
    Object,
    at,
    cells_of,
    containers,
    created,
    labels,
    listed,
    name_of,
    number,
    requirements,
    selector,
    text,
)


def _pods(content: Object) -> object:
    return at(content, "spec", "template", "spec")


@cells_of("apps/v1/deployments")
def deployment_cells(content: Object, ages: Ages) -> Cells:
    """Name, ready, up to date, available, age, containers, images, selector."""
    ready = f"{number(content, 'status', 'readyReplicas')}/{number(content, 'spec', 'replicas')}"
    return [
        name_of(content),
        ready,
        number(content, "status", "updatedReplicas"),
        number(content, "status", "availableReplicas"),
        ages.since(created(content)),
        *containers(_pods(content)),
        requirements(at(content, "spec", "selector")),
    ]


@cells_of("apps/v1/replicasets")
def replica_set_cells(content: Object, ages: Ages) -> Cells:
    """Name, desired, current, ready, age, containers, images, selector."""
    return [*_replicas(content, ages), selector(at(content, "spec", "selector"))]


@cells_of("v1/replicationcontrollers")
def replication_controller_cells(content: Object, ages: Ages) -> Cells:
    """Name, desired, current, ready, age, containers, images, selector."""
    return [*_replicas(content, ages), labels(at(content, "spec", "selector"))]


def _replicas(content: Object, ages: Ages) -> Cells:
    return [
        name_of(content),
        number(content, "spec", "replicas"),
        number(content, "status", "replicas"),
        number(content, "status", "readyReplicas"),
        ages.since(created(content)),
        *containers(_pods(content)),
    ]


@cells_of("apps/v1/statefulsets")
def stateful_set_cells(content: Object, ages: Ages) -> Cells:
    """Name, ready, age, containers, images."""
    ready = f"{number(content, 'status', 'readyReplicas')}/{number(content, 'spec', 'replicas')}"
    return [name_of(content), ready, ages.since(created(content)), *containers(_pods(content))]


@cells_of("apps/v1/daemonsets")
def daemon_set_cells(content: Object, ages: Ages) -> Cells:
    """Name, counts of nodes, node selector, age, containers, images, selector."""
    counts = (
        *("desiredNumberScheduled", "currentNumberScheduled", "numberReady"),
        *("updatedNumberScheduled", "numberAvailable"),
    )
    return [
        name_of(content),
        *(number(content, "status", count) for count in counts),
        labels(at(_pods(content), "nodeSelector")),
        ages.since(created(content)),
        *containers(_pods(content)),
        selector(at(content, "spec", "selector")),
    ]


@cells_of("apps/v1/controllerrevisions")
def controller_revision_cells(content: Object, ages: Ages) -> Cells:
    """Name, controller, revision, age."""
    controller = NONE
    for one in listed(content, "metadata", "ownerReferences"):
        if one.get("controller"):
            group = one["apiVersion"].rpartition("/")[0]
            kind = f"{one['kind']}.{group}" if group else one["kind"]
            controller = f"{kind.lower()}/{one['name']}"
    age = ages.since(created(content))
    return [name_of(content), controller, number(content, "revision"), age]


@cells_of("v1/podtemplates")
def pod_template_cells(content: Object, ages: Ages) -> Cells:
    """Name, containers, images, labels of pods."""
    del ages
    template = at(content, "template")
    found = labels(at(template, "metadata", "labels"))
    return [name_of(content), *containers(at(template, "spec")), found]


@cells_of("policy/v1/poddisruptionbudgets")
def disruption_budget_cells(content: Object, ages: Ages) -> Cells:
    """Name, what has to be, what may be missing, how much of that is left, age."""
    return [
        name_of(content),
        text(content, "spec", "minAvailable", default="N/A"),
        text(content, "spec", "maxUnavailable", default="N/A"),
        number(content, "status", "disruptionsAllowed"),
        ages.since(created(content)),
    ]
