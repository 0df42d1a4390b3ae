"""Validation: the mistakes in objects that people and programs make most often, by kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from stockman_lab.kube.admission.draft import (
    Draft,
    duplicate,
    forbidden_field,
    required,
    unsupported,
    wrong,
)
from stockman_lab.kube.admission.names import (
    label_causes,
    label_error,
    metadata_causes,
    metadata_update_causes,
)
from stockman_lab.kube.failures import Cause
from stockman_lab.kube.objects import Object, copied, entries_of, part_of
from stockman_lab.kube.schema.quantity import amount
from stockman_lab.kube.schema.validating import violations

Check = Callable[[Draft], Iterator[Cause]]
_IMMUTABLE = "field is immutable"
_NOT_NEGATIVE = "must be greater than or equal to 0"
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_KEY = "[-._a-zA-Z0-9]+"
_KEYS_OF_TYPE = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
}
_MOST_BYTES = 1 << 20
_CHANGEABLE_OF_POD = "images, activeDeadlineSeconds and added tolerations"


def validate_create(draft: Draft) -> list[Cause]:
    """What is wrong with a new object."""
    return [*metadata_causes(draft), *_schema_causes(draft), *_kind_causes(draft)]


def validate_update(draft: Draft) -> list[Cause]:
    """What is wrong with a change."""
    causes = [*metadata_update_causes(draft), *_schema_causes(draft)]
    if not draft.subresource:
        change = _CHANGES.get(draft.place)
        causes += _kind_causes(draft)
        causes += [] if change is None else change(draft)
    return causes


def _kind_causes(draft: Draft) -> Iterator[Cause]:
    check = _CHECKS.get(draft.place)
    return iter(()) if check is None else check(draft)


def _schema_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a custom object by its schema."""
    if draft.shape is not None and draft.resource.is_custom:
        for violation in violations(draft.shape, draft.content):
            yield Cause(violation.reason, violation.message, violation.field)


def _immutable(draft: Draft, *names: str) -> Iterator[Cause]:
    """Fields of `spec` that stay what they are."""
    new, old = part_of(draft.content, "spec"), part_of(draft.old or {}, "spec")
    for name in names:
        if new.get(name) != old.get(name):
            yield wrong(f"spec.{name}", new.get(name), _IMMUTABLE)


def _not_negative(spec: Object, *names: str) -> Iterator[Cause]:
    for name in names:
        number = spec.get(name)
        if isinstance(number, int) and number < 0:
            yield wrong(f"spec.{name}", number, _NOT_NEGATIVE)


def _pod(draft: Draft) -> Iterator[Cause]:
    return _pod_spec(part_of(draft.content, "spec"), "spec")


def _pod_spec(spec: Object, field: str) -> Iterator[Cause]:
    if not spec.get("containers"):
        yield required(f"{field}.containers")
    volumes = {volume.get("name") for volume in entries_of(spec, "volumes")}
    names: set[str] = set()
    for kind in ("containers", "initContainers"):
        for number, container in enumerate(entries_of(spec, kind)):
            path = f"{field}.{kind}[{number}]"
            yield from _container(container, path, volumes)
            name = container.get("name", "")
            if name and name in names:
                yield duplicate(f"{path}.name", name)
            names.add(name)
    policies = ("Always", "OnFailure", "Never")
    if spec.get("restartPolicy") not in policies:
        yield unsupported(f"{field}.restartPolicy", spec.get("restartPolicy", ""), policies)
    yield from label_causes(spec.get("nodeSelector"), f"{field}.nodeSelector")


def _container(container: Object, path: str, volumes: set[object]) -> Iterator[Cause]:
    name = container.get("name", "")
    if not name:
        yield required(f"{path}.name")
    elif why := label_error(name):
        yield wrong(f"{path}.name", name, why)
    if not container.get("image"):
        yield required(f"{path}.image")
    for number, mount in enumerate(entries_of(container, "volumeMounts")):
        if mount.get("name") not in volumes:
            text = f'Not found: "{mount.get("name", "")}"'
            yield Cause("FieldValueNotFound", text, f"{path}.volumeMounts[{number}].name")
    limits = part_of(container, "resources", "limits")
    for resource, request in sorted(part_of(container, "resources", "requests").items()):
        limit = limits.get(resource)
        if limit is not None and amount(request) > amount(limit):
            why = f"must be less than or equal to {resource} limit of {limit}"
            yield wrong(f"{path}.resources.requests", request, why)


def _pod_change(draft: Draft) -> Iterator[Cause]:
    new, old = part_of(draft.content, "spec"), part_of(draft.old or {}, "spec")
    if _unchangeable_part(new, old) != _unchangeable_part(old, old):
        yield forbidden_field(
            "spec", f"pod updates may not change fields other than {_CHANGEABLE_OF_POD}"
        )


def _unchangeable_part(spec: Object, old: Object) -> Object:
    content = copied(spec)
    for kind in ("containers", "initContainers"):
        for container in entries_of(content, kind):
            container.pop("image", None)
    content.pop("activeDeadlineSeconds", None)
    tolerations = entries_of(content, "tolerations")
    if all(toleration in tolerations for toleration in entries_of(old, "tolerations")):
        content.pop("tolerations", None)
    return content


def _workload(draft: Draft) -> Iterator[Cause]:
    """Deployments, replica sets, stateful sets and daemon sets."""
    spec = part_of(draft.content, "spec")
    yield from _not_negative(spec, "replicas", "minReadySeconds", "revisionHistoryLimit")
    selector = spec.get("selector")
    if not isinstance(selector, dict):
        yield required("spec.selector")
    labels = part_of(spec, "template", "metadata").get("labels")
    if not _selects(selector, labels):
        why = "`selector` does not match template `labels`"
        yield wrong("spec.template.metadata.labels", labels, why)
    template = part_of(spec, "template", "spec")
    yield from _pod_spec(template, "spec.template.spec")
    if template.get("restartPolicy") in {"Never", "OnFailure"}:
        field = "spec.template.spec.restartPolicy"
        yield unsupported(field, template["restartPolicy"], ("Always",))


def _selects(selector: object, labels: object) -> bool:
    if not isinstance(selector, dict):
        return False
    supplied = labels if isinstance(labels, dict) else {}
    match_labels = selector.get("matchLabels") or {}
    if not match_labels and not selector.get("matchExpressions"):
        return False
    return all(supplied.get(name) == value for name, value in match_labels.items())


def _workload_change(draft: Draft) -> Iterator[Cause]:
    return _immutable(draft, "selector")


def _job(draft: Draft) -> Iterator[Cause]:
    spec = part_of(draft.content, "spec")
    yield from _not_negative(spec, "parallelism", "completions", "backoffLimit")
    yield from _job_template(spec, "spec")


def _job_template(spec: Object, field: str) -> Iterator[Cause]:
    inner = part_of(spec, "template", "spec")
    yield from _pod_spec(inner, f"{field}.template.spec")
    if inner.get("restartPolicy") == "Always":
        path = f"{field}.template.spec.restartPolicy"
        yield required(path, 'valid values: "OnFailure", "Never"')


def _job_change(draft: Draft) -> Iterator[Cause]:
    return _immutable(draft, "completions", "selector", "template", "completionMode")


def _service(draft: Draft) -> Iterator[Cause]:
    spec = part_of(draft.content, "spec")
    types = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
    if spec.get("type") not in types:
        yield unsupported("spec.type", spec.get("type", ""), types)
    ports = entries_of(spec, "ports")
    if not ports and spec.get("clusterIP") != "None" and spec.get("type") != "ExternalName":
        yield required("spec.ports")
    names: set[str] = set()
    for number, port in enumerate(ports):
        field, name = f"spec.ports[{number}]", port.get("name", "")
        if not name and len(ports) > 1:
            yield required(f"{field}.name")
        if name and name in names:
            yield duplicate(f"{field}.name", name)
        names.add(name)
        if port.get("port", 0) not in range(1, 65536):
            why = "must be between 1 and 65535, inclusive"
            yield wrong(f"{field}.port", port.get("port", 0), why)
        if port.get("protocol") not in _PROTOCOLS:
            yield unsupported(f"{field}.protocol", port.get("protocol", ""), _PROTOCOLS)


def _service_change(draft: Draft) -> Iterator[Cause]:
    new, old = part_of(draft.content, "spec"), part_of(draft.old or {}, "spec")
    fixed = "ExternalName" not in (new.get("type"), old.get("type")) and old.get("clusterIP")
    if fixed and new.get("clusterIP") != old.get("clusterIP"):
        yield wrong("spec.clusterIPs[0]", new.get("clusterIPs"), "may not change once set")


def _data(draft: Draft) -> Iterator[Cause]:
    """Secrets and config maps."""
    parts = {name: part_of(draft.content, name) for name in ("data", "binaryData")}
    for field, values in parts.items():
        for key in sorted(values):
            if not re.fullmatch(_KEY, key):
                yield wrong(f"{field}[{key}]", key, f"a valid config key must match '{_KEY}'")
    if sum(len(str(value)) for values in parts.values() for value in values.values()) > _MOST_BYTES:
        field = "data" if draft.resource.kind == "Secret" else ""
        text = f"Too long: may not be more than {_MOST_BYTES} bytes"
        yield Cause("FieldValueTooLong", text, field)
    for key in _KEYS_OF_TYPE.get(str(draft.content.get("type")), ()):
        if key not in parts["data"]:
            yield required(f"data[{key}]")


def _data_change(draft: Draft) -> Iterator[Cause]:
    new, old = draft.content, draft.old or {}
    if new.get("type") != old.get("type"):
        yield wrong("type", new.get("type"), _IMMUTABLE)
    for name in ("immutable", "data", "binaryData") if old.get("immutable") else ():
        if new.get(name) != old.get(name):
            yield forbidden_field(name, "field is immutable when `immutable` is set")


def _claim_change(draft: Draft) -> Iterator[Cause]:
    """A claim that is bound may grow; nothing else about it changes."""
    new, old = dict(part_of(draft.content, "spec")), dict(part_of(draft.old or {}, "spec"))
    changeable = {name for name in ("volumeName", "storageClassName") if not old.get(name)}
    if part_of(draft.old or {}, "status").get("phase") == "Bound":
        changeable |= {"volumeAttributesClassName", "resources"}
    if any(new.get(name) != old.get(name) for name in {*new, *old} - changeable):
        text = (
            "spec is immutable after creation except resources.requests and"
            " volumeAttributesClassName for bound claims"
        )
        yield forbidden_field("spec", f"{text}\n")


_CHECKS: dict[tuple[str, str], Check] = {
    ("", "configmaps"): _data,
    ("", "pods"): _pod,
    ("", "secrets"): _data,
    ("", "services"): _service,
    ("apps", "daemonsets"): _workload,
    ("apps", "deployments"): _workload,
    ("apps", "replicasets"): _workload,
    ("apps", "statefulsets"): _workload,
    ("batch", "jobs"): _job,
}
"""What is looked at in new and changed objects."""
_CHANGES: dict[tuple[str, str], Check] = {
    ("", "configmaps"): _data_change,
    ("", "persistentvolumeclaims"): _claim_change,
    ("", "pods"): _pod_change,
    ("", "secrets"): _data_change,
    ("", "services"): _service_change,
    ("apps", "daemonsets"): _workload_change,
    ("apps", "deployments"): _workload_change,
    ("apps", "replicasets"): _workload_change,
    ("apps", "statefulsets"): _workload_change,
    ("batch", "jobs"): _job_change,
}
"""What is looked at in changed objects only."""
