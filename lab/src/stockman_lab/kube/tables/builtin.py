"""Cells of the tables of built-in kinds, one function per column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from stockman_lab.kube.schema.quantity import canonical
from stockman_lab.kube.tables.ages import UNKNOWN, Ages, human, seconds_of
from stockman_lab.kube.tables.printing import (
    NONE,
    UNSET,
    Cells,
    Object,
    at,
    condition,
    created,
    is_being_deleted,
    is_true,
    labels,
    listed,
    name_of,
    number,
    shortened,
    text,
)

_UNREACHABLE = "NodeLost"


def pod_cells(pod: Object, ages: Ages) -> Cells:
    """Name, ready, status, restarts, age, address, node, nominated node, readiness gates."""
    statuses = listed(pod, "status", "containerStatuses")
    restarted = sum(number(status, "restartCount") for status in statuses)
    ended = [
        moment
        for status in statuses
        if (moment := text(status, "lastState", "terminated", "finishedAt"))
    ]
    restarts = str(restarted)
    if restarted and ended:
        restarts = f"{restarted} ({ages.since(max(ended))} ago)"
    ready = sum(bool(status.get("ready")) for status in statuses)
    return [
        name_of(pod),
        f"{ready}/{len(listed(pod, 'spec', 'containers'))}",
        _status(pod),
        restarts,
        ages.since(created(pod)),
        text(pod, "status", "podIP", default=NONE),
        text(pod, "spec", "nodeName", default=NONE),
        text(pod, "status", "nominatedNodeName", default=NONE),
        NONE,
    ]


def _status(pod: Object) -> str:
    """The word for the status."""
    phase = text(pod, "status", "phase")
    if is_being_deleted(pod):
        is_lost = text(pod, "status", "reason") == _UNREACHABLE
        ended = phase in ("Succeeded", "Failed")
        return "Unknown" if is_lost else phase if ended else "Terminating"
    count = len(listed(pod, "spec", "initContainers"))
    for key, status in enumerate(listed(pod, "status", "initContainerStatuses")):
        word = _word(status)
        if word in ("Completed", "") or status.get("started"):
            continue
        if word != "PodInitializing":
            return f"Init:{word}"
        return f"Init:{key}/{count}"
    words = [_word(status) for status in listed(pod, "status", "containerStatuses")]
    told = [word for word in words if word]
    if "Completed" in told and is_true(pod, "Ready"):
        return "Running"
    return told[0] if told else text(pod, "status", "reason", default=phase)


def _word(status: Object) -> str:
    """Why a container waits, or how it ended; empty: it runs."""
    ended = at(status, "state", "terminated")
    if ended is not None:
        return text(ended, "reason") or f"ExitCode:{number(ended, 'exitCode')}"
    return text(status, "state", "waiting", "reason")


Cell: TypeAlias = "Callable[[Object], Any] | _Aged"

_ROLE = "node-role.kubernetes.io/"
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_MOST_ADDRESSES = 3


class _Aged(NamedTuple):
    """A cell that depends on the moment at which it is shown."""

    write: Callable[[Object, Ages], str]


def _name(content: Object) -> str:
    return name_of(content)


_AGE = _Aged(lambda content, ages: ages.since(created(content)))


def _text(path: str, default: str = "") -> Cell:
    names = path.split(".")
    return lambda content: text(content, *names, default=default)


def _number(path: str) -> Cell:
    names = path.split(".")
    return lambda content: number(content, *names)


def _flag(path: str) -> Cell:
    names = path.split(".")
    return lambda content: bool(at(content, *names))


def _size(*paths: str) -> Cell:
    """The number of entries of lists and maps."""
    return lambda content: sum(len(at(content, *path.split(".")) or ()) for path in paths)


def _labels(path: str) -> Cell:
    names = path.split(".")
    return lambda content: labels(at(content, *names))


def _ready_of_replicas(content: Object) -> str:
    return f"{number(content, 'status', 'readyReplicas')}/{number(content, 'spec', 'replicas')}"


def _job_status(job: Object) -> str:
    if is_true(job, "Complete"):
        return "Complete"
    if is_true(job, "Failed"):
        return "Failed"
    if is_being_deleted(job):
        return "Terminating"
    kinds = ("Suspended", "FailureTarget", "SuccessCriteriaMet")
    return next((kind for kind in kinds if is_true(job, kind)), "Running")


def _completions(job: Object) -> str:
    succeeded, completions = number(job, "status", "succeeded"), at(job, "spec", "completions")
    if completions is not None:
        return f"{succeeded}/{completions}"
    parallelism = number(job, "spec", "parallelism")
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _duration(job: Object, ages: Ages) -> str:
    started, ended = at(job, "status", "startTime"), at(job, "status", "completionTime")
    if not started:
        return ""
    return human(seconds_of(ended) - seconds_of(started)) if ended else ages.since(started)


def _last_schedule(job: Object, ages: Ages) -> str:
    last = at(job, "status", "lastScheduleTime")
    return ages.since(last) if last else NONE


def _is_suspended(job: Object) -> str:
    return str(at(job, "spec", "suspend"))


def _access_modes(path: str) -> Cell:
    names = path.split(".")

    def cell(content: Object) -> str:
        modes = listed(content, *names)
        return ",".join(short for mode, short in _MODES.items() if mode in modes)

    return cell


def _storage(path: str) -> Cell:
    names = path.split(".")

    def cell(content: Object) -> str:
        size = at(content, *names, "storage")
        return canonical(size) if size else ""

    return cell


def _phase(content: Object) -> str:
    return "Terminating" if is_being_deleted(content) else text(content, "status", "phase")


def _claim(volume: Object) -> str:
    claim = at(volume, "spec", "claimRef")
    return f"{text(claim, 'namespace')}/{text(claim, 'name')}" if claim else ""


def _storage_class_name(content: Object) -> str:
    is_default = at(content, "metadata", "annotations", _DEFAULT_CLASS) == "true"
    return f"{name_of(content)} (default)" if is_default else name_of(content)


def _cluster_ip(service: Object) -> str:
    return next(iter(listed(service, "spec", "clusterIPs")), NONE)


def _external_ip(service: Object) -> str:
    external = listed(service, "spec", "externalIPs")
    match text(service, "spec", "type"):
        case "LoadBalancer":
            ingress = listed(service, "status", "loadBalancer", "ingress")
            addresses = {entry.get("ip") or entry.get("hostname") or "" for entry in ingress}
            return ",".join([*sorted(addresses - {""}), *external]) or "<pending>"
        case "ExternalName":
            return text(service, "spec", "externalName")
    return ",".join(external) or NONE


def _service_ports(service: Object) -> str:
    ports = []
    for port in listed(service, "spec", "ports"):
        node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
        ports.append(f"{port['port']}{node_port}/{port.get('protocol', 'TCP')}")
    return ",".join(ports) or NONE


def _slice_ports(content: Object) -> str:
    ports = (str(port.get("port") or port.get("name") or "*") for port in listed(content, "ports"))
    return shortened(ports, _MOST_ADDRESSES) or UNSET


def _slice_addresses(content: Object) -> str:
    addresses = (
        address
        for endpoint in listed(content, "endpoints")
        for address in listed(endpoint, "addresses")
    )
    return shortened(addresses, _MOST_ADDRESSES) or UNSET


def _node_status(node: Object) -> str:
    ready = text(condition(node, "Ready"), "status")
    status = ("Ready" if ready == "True" else "NotReady") if ready else "Unknown"
    return f"{status},SchedulingDisabled" if at(node, "spec", "unschedulable") else status


def _node_roles(node: Object) -> str:
    names = at(node, "metadata", "labels") or {}
    roles = (name.removeprefix(_ROLE) for name in names if name.startswith(_ROLE))
    return ",".join(sorted(filter(None, roles))) or NONE


def _node_address(kind: str) -> Cell:
    def cell(node: Object) -> str:
        addresses = listed(node, "status", "addresses")
        return next(
            (text(address, "address") for address in addresses if address.get("type") == kind), NONE
        )

    return cell


def _kernel(node: Object) -> str:
    info = at(node, "status", "nodeInfo")
    kernel, architecture = text(info, "kernelVersion", default=UNKNOWN), text(info, "architecture")
    return f"{kernel} ({architecture})" if architecture else kernel


def _api_service(content: Object) -> str:
    service = at(content, "spec", "service")
    return f"{text(service, 'namespace')}/{text(service, 'name')}" if service else "Local"


def _available(content: Object) -> str:
    available = condition(content, "Available")
    status, reason = text(available, "status", default="Unknown"), text(available, "reason")
    return f"{status} ({reason})" if status == "False" and reason else status


def _event_moment(*paths: str) -> Cell:
    """The age of the first of some moments that an event has."""

    def write(event: Object, ages: Ages) -> str:
        moments = (at(event, *path.split(".")) for path in paths)
        return ages.since(next(filter(None, moments), None))

    return _Aged(write)


def _event_object(event: Object) -> str:
    kind = text(event, "involvedObject", "kind").lower()
    name = text(event, "involvedObject", "name")
    return f"{kind}/{name}" if name else kind


def _event_source(event: Object) -> str:
    component = text(event, "source", "component") or text(event, "reportingComponent")
    host = text(event, "source", "host") or text(event, "reportingInstance")
    return f"{component}, {host}" if host else component


def _event_count(event: Object) -> int:
    return number(event, "series", "count") or number(event, "count") or 1


_CSI = "storage.k8s.io/v1"
_CELLS: Mapping[str, tuple[Cell, ...]] = {
    "v1/configmaps": (_name, _size("data", "binaryData"), _AGE),
    "v1/events": (
        _event_moment("series.lastObservedTime", "lastTimestamp", "firstTimestamp", "eventTime"),
        *(_text("type"), _text("reason"), _event_object, _text("involvedObject.fieldPath")),
        *(_event_source, _text("message"), _event_moment("firstTimestamp", "eventTime")),
        *(_event_count, _name),
    ),
    "v1/namespaces": (_name, _text("status.phase"), _AGE),
    "v1/nodes": (
        *(_name, _node_status, _node_roles, _AGE, _text("status.nodeInfo.kubeletVersion")),
        *(_node_address("InternalIP"), _node_address("ExternalIP")),
        *(_text("status.nodeInfo.osImage", UNKNOWN), _kernel),
        _text("status.nodeInfo.containerRuntimeVersion", UNKNOWN),
    ),
    "v1/persistentvolumeclaims": (
        *(_name, _phase, _text("spec.volumeName"), _storage("status.capacity")),
        *(_access_modes("status.accessModes"), _text("spec.storageClassName")),
        *(_text("spec.volumeAttributesClassName", UNSET), _AGE, _text("spec.volumeMode", UNSET)),
    ),
    "v1/persistentvolumes": (
        *(_name, _storage("spec.capacity"), _access_modes("spec.accessModes")),
        *(_text("spec.persistentVolumeReclaimPolicy"), _phase, _claim),
        *(_text("spec.storageClassName"), _text("spec.volumeAttributesClassName", UNSET)),
        *(_text("status.reason"), _AGE, _text("spec.volumeMode", UNSET)),
    ),
    "v1/secrets": (_name, _text("type"), _size("data"), _AGE),
    "v1/serviceaccounts": (_name, _AGE),
    "v1/services": (
        *(_name, _text("spec.type"), _cluster_ip, _external_ip, _service_ports, _AGE),
        _labels("spec.selector"),
    ),
    "apiregistration.k8s.io/v1/apiservices": (_name, _api_service, _available, _AGE),
    "apps/v1/daemonsets": (
        *(_name, _number("status.desiredNumberScheduled")),
        *(_number("status.currentNumberScheduled"), _number("status.numberReady")),
        *(_number("status.updatedNumberScheduled"), _number("status.numberAvailable")),
        *(_labels("spec.template.spec.nodeSelector"), _AGE),
    ),
    "apps/v1/deployments": (
        *(_name, _ready_of_replicas, _number("status.updatedReplicas")),
        *(_number("status.availableReplicas"), _AGE),
    ),
    "apps/v1/replicasets": (
        *(_name, _number("spec.replicas"), _number("status.replicas")),
        *(_number("status.readyReplicas"), _AGE),
    ),
    "apps/v1/statefulsets": (_name, _ready_of_replicas, _AGE),
    "batch/v1/cronjobs": (
        *(_name, _text("spec.schedule"), _text("spec.timeZone", NONE), _is_suspended),
        *(_size("status.active"), _Aged(_last_schedule), _AGE),
    ),
    "batch/v1/jobs": (_name, _job_status, _completions, _Aged(_duration), _AGE),
    "coordination.k8s.io/v1/leases": (_name, _text("spec.holderIdentity"), _AGE),
    "discovery.k8s.io/v1/endpointslices": (
        *(_name, _text("addressType"), _slice_ports, _slice_addresses, _AGE),
    ),
    "policy/v1/poddisruptionbudgets": (
        *(_name, _text("spec.minAvailable", "N/A"), _text("spec.maxUnavailable", "N/A")),
        *(_number("status.disruptionsAllowed"), _AGE),
    ),
    f"{_CSI}/storageclasses": (
        *(_storage_class_name, _text("provisioner"), _text("reclaimPolicy", "Delete")),
        *(_text("volumeBindingMode", "Immediate"), _flag("allowVolumeExpansion"), _AGE),
    ),
    f"{_CSI}/volumeattachments": (
        *(_name, _text("spec.attacher"), _text("spec.source.persistentVolumeName")),
        *(_text("spec.nodeName"), _flag("status.attached"), _AGE),
    ),
}
_POD = "v1/pods"


def has_printer(resource: str) -> bool:
    """Return whether a resource (`apps/v1/deployments`) has cells of its own."""
    return resource == _POD or resource in _CELLS


def builtin_cells(resource: str, content: Object, ages: Ages) -> Cells:
    """Return the cells of an object; name and creation time where its kind has no printer."""
    if resource == _POD:
        return pod_cells(content, ages)
    cells = _CELLS.get(resource)
    if cells is None:
        return [name_of(content), created(content)]
    return [
        cell.write(content, ages) if isinstance(cell, _Aged) else cell(content) for cell in cells
    ]
