"""Services."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.admission.draft import Draft, duplicate, required, unsupported, wrong
from stockman_lab.kube.admission.go_shown import shown_port
from stockman_lab.kube.admission.names import label_errors
from stockman_lab.kube.failures import Cause
from stockman_lab.kube.objects import entries_of, part_of

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_AFFINITIES = ("ClientIP", "None")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PORTS = range(1, 65536)
_PORT_TEXT = "must be between 1 and 65535, inclusive"


def service_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a service."""
    spec = part_of(draft.content, "spec")
    ports = entries_of(spec, "ports")
    headless = spec.get("clusterIP") == "None"
    if not ports and not headless and spec.get("type") != "ExternalName":
        yield required("spec.ports")
    if spec.get("type") == "ExternalName" and not spec.get("externalName"):
        yield wrong("spec.externalName", "", "a lowercase RFC 1123 subdomain is required")
    names: set[str] = set()
    for place, port in enumerate(ports):
        field = f"spec.ports[{place}]"
        name, number = port.get("name", ""), port.get("port", 0)
        if not name and len(ports) > 1:
            yield required(f"{field}.name")
        for why in label_errors(name) if name else ():
            yield wrong(f"{field}.name", name, why)
        if name and name in names:
            yield duplicate(f"{field}.name", name)
        names.add(name)
        if number not in _PORTS:
            yield wrong(f"{field}.port", number, _PORT_TEXT)
        if port.get("protocol") not in _PROTOCOLS:
            yield unsupported(f"{field}.protocol", port.get("protocol", ""), _PROTOCOLS)
    if spec.get("sessionAffinity") not in _AFFINITIES:
        yield unsupported("spec.sessionAffinity", spec.get("sessionAffinity", ""), _AFFINITIES)
    if spec.get("type") not in _TYPES:
        yield unsupported("spec.type", spec.get("type", ""), _TYPES)
    seen: list[tuple[object, object]] = []
    for place, port in enumerate(ports):
        told = (port.get("protocol"), port.get("port"))
        if told in seen:
            yield duplicate(f"spec.ports[{place}]", shown_port(port))
        seen.append(told)


def service_update_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with the change of a service."""
    new, old = part_of(draft.content, "spec"), part_of(draft.old or {}, "spec")
    fixed = "ExternalName" not in (new.get("type"), old.get("type")) and old.get("clusterIP")
    if fixed and new.get("clusterIP") != old.get("clusterIP"):
        yield wrong("spec.clusterIPs[0]", new.get("clusterIPs"), "may not change once set")
    yield from service_causes(draft)
