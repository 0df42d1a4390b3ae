"""Tables of what belongs to the cluster as a whole."""

from __future__ import annotations

from stockman_lab.kube.schema.quantity import canonical
from stockman_lab.kube.tables.ages import Ages
from stockman_lab.kube.tables.printing import (
    NONE,
    Cells,
    Object,
    at,
    cells_of,
    condition,
    created,
    is_being_deleted,
    listed,
    name_of,
    number,
    text,
)


@cells_of("v1/namespaces")
def namespace_cells(content: Object, ages: Ages) -> Cells:
    """Name, status, age."""
    return [name_of(content), text(content, "status", "phase"), ages.since(created(content))]


@cells_of("v1/configmaps")
def config_map_cells(content: Object, ages: Ages) -> Cells:
    """Name, count of data, age."""
    count = len(at(content, "data") or {}) + len(at(content, "binaryData") or {})
    return [name_of(content), count, ages.since(created(content))]


@cells_of("v1/secrets")
def secret_cells(content: Object, ages: Ages) -> Cells:
    """Name, type, count of data, age."""
    count = len(at(content, "data") or {})
    return [name_of(content), text(content, "type"), count, ages.since(created(content))]


@cells_of("v1/resourcequotas")
def quota_cells(content: Object, ages: Ages) -> Cells:
    """Name, requests, limits, age."""
    hard, used = at(content, "status", "hard") or {}, at(content, "status", "used") or {}
    columns: dict[bool, list[str]] = {False: [], True: []}
    for name in sorted(hard):
        said = f"{name}: {canonical(used.get(name, '0'))}/{canonical(hard[name])}"
        columns[name.startswith("limits.")].append(said)
    requests, limits = (", ".join(columns[one]) for one in (False, True))
    return [name_of(content), requests, limits, ages.since(created(content))]


@cells_of("v1/componentstatuses")
def component_cells(content: Object, ages: Ages) -> Cells:
    """Name, status, message, error."""
    del ages
    for one in listed(content, "conditions"):
        if one.get("type") == "Healthy":
            status = "Healthy" if one.get("status") == "True" else "Unhealthy"
            return [name_of(content), status, text(one, "message"), text(one, "error")]
    return [name_of(content), "Unknown", "", ""]


@cells_of("coordination.k8s.io/v1/leases")
def lease_cells(content: Object, ages: Ages) -> Cells:
    """Name, holder, age."""
    holder = text(content, "spec", "holderIdentity")
    return [name_of(content), holder, ages.since(created(content))]


@cells_of("scheduling.k8s.io/v1/priorityclasses")
def priority_class_cells(content: Object, ages: Ages) -> Cells:
    """Name, value, whether it is the default, age, policy."""
    return [
        name_of(content),
        number(content, "value"),
        bool(at(content, "globalDefault")),
        ages.since(created(content)),
        text(content, "preemptionPolicy"),
    ]


@cells_of("node.k8s.io/v1/runtimeclasses")
def runtime_class_cells(content: Object, ages: Ages) -> Cells:
    """Name, handler, age."""
    return [name_of(content), text(content, "handler"), ages.since(created(content))]


@cells_of("apiregistration.k8s.io/v1/apiservices")
def api_service_cells(content: Object, ages: Ages) -> Cells:
    """Name, service, whether it is available, age."""
    service = at(content, "spec", "service")
    place = "Local"
    if service is not None:
        place = f"{text(service, 'namespace')}/{text(service, 'name')}"
    found = condition(content, "Available")
    available = text(found, "status", default="Unknown")
    if found is not None and available != "True" and text(found, "reason"):
        available = f"{available} ({text(found, 'reason')})"
    return [name_of(content), place, available, ages.since(created(content))]


@cells_of("flowcontrol.apiserver.k8s.io/v1/flowschemas")
def flow_schema_cells(content: Object, ages: Ages) -> Cells:
    """Name, level, precedence, what tells flows apart, age, whether the level is missing."""
    return [
        name_of(content),
        text(content, "spec", "priorityLevelConfiguration", "name"),
        number(content, "spec", "matchingPrecedence"),
        text(content, "spec", "distinguisherMethod", "type", default=NONE),
        ages.since(created(content)),
        text(condition(content, "Dangling"), "status", default="?"),
    ]


@cells_of("flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations")
def priority_level_cells(content: Object, ages: Ages) -> Cells:
    """Name, type, shares, queues, age."""
    limited = at(content, "spec", "limited")
    queuing = at(limited, "limitResponse", "queuing")
    queues = ("queues", "handSize", "queueLengthLimit")
    return [
        name_of(content),
        text(content, "spec", "type"),
        NONE if limited is None else number(limited, "nominalConcurrencyShares"),
        *(NONE if queuing is None else number(queuing, queue) for queue in queues),
        ages.since(created(content)),
    ]


@cells_of("resource.k8s.io/v1/deviceclasses", "resource.k8s.io/v1/resourceclaimtemplates")
def device_class_cells(content: Object, ages: Ages) -> Cells:
    """Name, age."""
    return [name_of(content), ages.since(created(content))]


@cells_of("resource.k8s.io/v1/resourceclaims")
def resource_claim_cells(content: Object, ages: Ages) -> Cells:
    """Name, state, age."""
    states = ["deleted"] if is_being_deleted(content) else []
    if at(content, "status", "allocation") is not None:
        states.append("allocated")
        states += ["reserved"] if listed(content, "status", "reservedFor") else []
    elif not states:
        states.append("pending")
    return [name_of(content), ",".join(states), ages.since(created(content))]


@cells_of("resource.k8s.io/v1/resourceslices")
def resource_slice_cells(content: Object, ages: Ages) -> Cells:
    """Name, node, driver, pool, age."""
    spec = at(content, "spec")
    words = (text(spec, "nodeName"), text(spec, "driver"), text(spec, "pool", "name"))
    return [name_of(content), *words, ages.since(created(content))]
