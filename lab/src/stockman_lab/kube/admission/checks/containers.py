"""Containers and volumes of pods."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.admission.draft import duplicate, required, unsupported, wrong
from stockman_lab.kube.admission.names import label_errors
from stockman_lab.kube.failures import Cause
from stockman_lab.kube.objects import Object, entries_of, part_of
from stockman_lab.kube.schema.quantity import amount

_PORTS = range(1, 65536)
_PORT_TEXT = "must be between 1 and 65535, inclusive"
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULLS = ("Always", "IfNotPresent", "Never")
_MESSAGES = ("FallbackToLogsOnError", "File")


def volume_causes(spec: Object, field: str) -> Iterator[Cause]:
    """What is wrong with volumes."""
    seen: set[str] = set()
    for place, volume in enumerate(entries_of(spec, "volumes")):
        name = volume.get("name", "")
        path = f"{field}.volumes[{place}]"
        if not name:
            yield required(f"{path}.name")
        for why in label_errors(name) if name else ():
            yield wrong(f"{path}.name", name, why)
        if name and name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)
        sources = [one for key, one in volume.items() if key != "name" and one is not None]
        if len(sources) > 1:
            kinds = [key for key in volume if key != "name"]
            text = "may not specify more than 1 volume type"
            yield Cause("FieldValueForbidden", f"Forbidden: {text}", f"{path}.{kinds[-1]}")


def container_causes(spec: Object, field: str) -> Iterator[Cause]:
    """What is wrong with containers of all kinds."""
    if not spec.get("containers"):
        yield required(f"{field}.containers")
    volumes = {entry.get("name") for entry in entries_of(spec, "volumes")}
    seen: set[str] = set()
    for kind in ("containers", "initContainers"):
        for place, container in enumerate(entries_of(spec, kind)):
            path = f"{field}.{kind}[{place}]"
            yield from _container_causes(container, path, volumes)
            name = container.get("name", "")
            if name and name in seen:
                yield duplicate(f"{path}.name", name)
            seen.add(name)


def _container_causes(container: Object, path: str, volumes: set[object]) -> Iterator[Cause]:
    name, image = container.get("name", ""), container.get("image", "")
    if not name:
        yield required(f"{path}.name")
    for why in label_errors(name) if name else ():
        yield wrong(f"{path}.name", name, why)
    if not image:
        yield required(f"{path}.image")
    elif image != image.strip():
        yield wrong(f"{path}.image", image, "must not have leading or trailing whitespace")
    if container.get("terminationMessagePolicy") not in (None, *_MESSAGES):
        termination_message_policy = container["terminationMessagePolicy"]
        yield unsupported(f"{path}.terminationMessagePolicy", termination_message_policy, _MESSAGES)
    yield from _port_causes(container, path)
    yield from _variable_causes(container, path)
    yield from _mount_causes(container, path, volumes)
    if container.get("imagePullPolicy") not in _PULLS:
        yield unsupported(f"{path}.imagePullPolicy", container.get("imagePullPolicy", ""), _PULLS)
    yield from resource_causes(container, f"{path}.resources")


def _port_causes(container: Object, path: str) -> Iterator[Cause]:
    names: set[str] = set()
    for place, port in enumerate(entries_of(container, "ports")):
        inner = f"{path}.ports[{place}]"
        name, number = port.get("name", ""), port.get("containerPort", 0)
        if name and name in names:
            yield duplicate(f"{inner}.name", name)
        names.add(name)
        if not number:
            yield required(f"{inner}.containerPort")
        elif number not in _PORTS:
            yield wrong(f"{inner}.containerPort", number, _PORT_TEXT)
        if port.get("hostPort") and port["hostPort"] not in _PORTS:
            yield wrong(f"{inner}.hostPort", port["hostPort"], _PORT_TEXT)
        if port.get("protocol") not in _PROTOCOLS:
            yield unsupported(f"{inner}.protocol", port.get("protocol", ""), _PROTOCOLS)


def _variable_causes(container: Object, path: str) -> Iterator[Cause]:
    for place, variable in enumerate(entries_of(container, "env")):
        inner = f"{path}.env[{place}]"
        name = variable.get("name", "")
        if not name:
            yield required(f"{inner}.name")
        if variable.get("value") and variable.get("valueFrom"):
            why = "may not be specified when `value` is not empty"
            yield wrong(f"{inner}.valueFrom", "", why)


def _mount_causes(container: Object, path: str, volumes: set[object]) -> Iterator[Cause]:
    paths: set[str] = set()
    for place, mount in enumerate(entries_of(container, "volumeMounts")):
        inner = f"{path}.volumeMounts[{place}]"
        name, where = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{inner}.name")
        if not where:
            yield required(f"{inner}.mountPath")
        if name not in volumes:
            yield Cause("FieldValueNotFound", f'Not found: "{name}"', f"{inner}.name")
        if where and where in paths:
            yield wrong(f"{inner}.mountPath", where, "must be unique")
        paths.add(where)


def resource_causes(owner: Object, field: str) -> Iterator[Cause]:
    """What is wrong with amounts of resources."""
    limits = part_of(owner, "resources", "limits")
    requests = part_of(owner, "resources", "requests")
    for kind, amounts in (("limits", limits), ("requests", requests)):
        for name, given in sorted(amounts.items()):
            if amount(given) < 0:
                yield wrong(f"{field}.{kind}[{name}]", given, "must be greater than or equal to 0")
    for name, given in sorted(requests.items()):
        limit = limits.get(name)
        if limit is not None and amount(given) > amount(limit):
            why = f"must be less than or equal to {name} limit of {limit}"
            yield wrong(f"{field}.requests", given, why)
