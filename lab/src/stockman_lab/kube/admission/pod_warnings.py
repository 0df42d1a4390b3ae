"""Warnings about pods and templates that are accepted all the same."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.admission.draft import Draft
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of
from stockman_lab.kube.schema.quantity import amount

_TEMPLATES = {
    ("apps", "daemonsets"): ("spec", "template"),
    ("apps", "deployments"): ("spec", "template"),
    ("apps", "replicasets"): ("spec", "template"),
    ("apps", "statefulsets"): ("spec", "template"),
    ("batch", "cronjobs"): ("spec", "jobTemplate", "spec", "template"),
    ("batch", "jobs"): ("spec", "template"),
    ("", "pods"): (),
}
_OLD_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": (
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ),
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
}
_KINDS = ("initContainers", "containers")


def warn_of_pods(draft: Draft) -> None:
    """Warn of what is odd about the pods of an object that is written."""
    template = _TEMPLATES.get(draft.place)
    if template is None or draft.subresource:
        return
    if draft.old is not None:
        same = metadata_of(draft.content).get("generation") == metadata_of(draft.old).get(
            "generation"
        )
        if same:
            return
    owner = part_of(draft.content, *template) if template else draft.content
    path = ".".join((*template, "spec"))
    draft.warnings.extend(_warnings(part_of(owner, "spec"), path))


def _warnings(spec: Object, path: str) -> Iterator[str]:
    for label in sorted(part_of(spec, "nodeSelector")):
        if label in _OLD_LABELS:
            yield f"{path}.nodeSelector[{label}]: {_OLD_LABELS[label]}"
    containers = [
        (f"{path}.{kind}[{place}]", entry)
        for kind in _KINDS
        for place, entry in enumerate(entries_of(spec, kind))
    ]
    for where, container in containers:
        yield from _fractions(container, where)
        yield from _hidden(container, where)
    yield from _ports(containers)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{path}.terminationGracePeriodSeconds: {text}"


def _fractions(container: Object, where: str) -> Iterator[str]:
    for resource in ("memory", "ephemeral-storage"):
        for kind in ("limits", "requests"):
            given = part_of(container, "resources", kind).get(resource)
            if given is not None and amount(given).denominator != 1:
                place = f"{where}.resources.{kind}[{resource}]"
                yield f'{place}: fractional byte value "{given}" is invalid, must be an integer'


def _hidden(container: Object, where: str) -> Iterator[str]:
    seen: set[str] = set()
    for place, entry in enumerate(entries_of(container, "env")):
        name, value = entry.get("name", ""), entry.get("value", "")
        reference = f"$({name})"
        replaces = entry.get("valueFrom") or value == reference or reference not in value
        if name in seen and replaces:
            text = f'hides previous definition of "{name}", which may be dropped when using apply'
            yield f"{where}.env[{place}]: {text}"
        seen.add(name)


def _ports(containers: list[tuple[str, Object]]) -> Iterator[str]:
    ports = [
        (f"{where}.ports[{place}]", port)
        for where, container in containers
        for place, port in enumerate(entries_of(container, "ports"))
    ]
    for number, (where, port) in enumerate(ports):
        for other_where, other in ports[:number]:
            if _told(port) == _told(other):
                yield f"{where}: {_overlap(port, other)} port definition with {other_where}"
    names: dict[str, str] = {}
    for where, port in ports:
        name = port.get("name")
        if name and name in names:
            other_where = names[name]
            yield (
                f'{where}: duplicate port name "{name}" with {other_where}, services and probes'
                f" that select ports by name will use {other_where}"
            )
        elif name:
            names[name] = where


def _told(port: Object) -> tuple[object, object]:
    return port.get("containerPort"), port.get("protocol")


def _overlap(port: Object, other: Object) -> str:
    same = (port.get("hostIP", ""), port.get("hostPort", 0)) == (
        other.get("hostIP", ""),
        other.get("hostPort", 0),
    )
    return "duplicate" if same else "overlapping"
