"""Endpoint slices and endpoints: which pods stand behind a service."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.api.object_selectors import selects
from stockman_lab.kube.controllers import pods as pod_facts
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.controllers.ownership import controller_reference, is_controlled_by
from stockman_lab.kube.objects import Object, copied, entries_of, metadata_of, part_of

_HEADLESS = "service.kubernetes.io/headless"
_TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"
_SERVICE = "kubernetes.io/service-name"
_MANAGER = "endpointslice.kubernetes.io/managed-by"
_MOST = 100
"""Endpoints in one slice."""


class _OfServices(Controller):
    """What follows services and their pods."""

    watches = ("services", "pods")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Of a pod: the services that mean it, unless nothing changed that they tell."""
        if change.key.resource != "pods":
            return (change.name,)
        if change.before and change.after and _facts(change.before) == _facts(change.after):
            return ()
        keys: dict[str, None] = {}
        for pod in (change.before, change.after):
            labels = None if pod is None else metadata_of(pod).get("labels")
            for service in self.objects.listed("services", change.key.namespace) if labels else ():
                selector = part_of(service, "spec").get("selector")
                if selector and selects({"matchLabels": selector}, labels):
                    keys[named_key(change.key.namespace, metadata_of(service)["name"])] = None
        return keys

    def behind(self, service: Object) -> list[Object]:
        """Pods of a service that have an address, by name."""
        selector = part_of(service, "spec").get("selector")
        return [
            pod
            for pod in self.objects.listed("pods", metadata_of(service)["namespace"])
            if selects({"matchLabels": selector}, metadata_of(pod).get("labels"))
            and part_of(pod, "status").get("podIP")
            and pod_facts.phase(pod) not in {"Succeeded", "Failed"}
        ]

    def shown(self, service: Object, pod: Object) -> bool:
        """Whether clients are sent to a pod."""
        early = part_of(service, "spec").get("publishNotReadyAddresses")
        return bool(early) or (pod_facts.is_ready(pod) and not pod_facts.is_going(pod))


class EndpointSlices(_OfServices):
    """Writes endpoint slices."""

    name = "endpointslice"
    component = "endpoint-slice-controller"

    def sync(self, key: str) -> None:
        """Let the slices of a service name its pods."""
        service = self.objects.get("services", key)
        if service is None or not part_of(service, "spec").get("selector"):
            return
        if part_of(service, "spec").get("type") == "ExternalName":
            return
        if metadata_of(service).get("deletionTimestamp"):
            return
        metadata = metadata_of(service)
        known = [
            endpoint_slice
            for endpoint_slice in self.objects.listed("endpointslices", metadata["namespace"])
            if is_controlled_by(endpoint_slice, service)
        ]
        pods = self.behind(service)
        ports = slice_ports(service, pods)
        endpoints = [self._endpoint(service, pod) for pod in pods]
        parts = [endpoints[at : at + _MOST] for at in range(0, len(endpoints), _MOST)] or [[]]
        for part, old in zip(parts, [*known, *[None] * len(parts)], strict=False):
            self._write(service, old, part, ports if part else None)
        for surplus in known[len(parts) :]:
            self.client.delete(surplus)

    def _endpoint(self, service: Object, pod: Object) -> Object:
        status, spec = part_of(pod, "status"), part_of(pod, "spec")
        serving = pod_facts.is_ready(pod)
        endpoint: Object = {
            "addresses": [status["podIP"]],
            "conditions": {
                "ready": self.shown(service, pod),
                "serving": serving,
                "terminating": pod_facts.is_going(pod),
            },
        }
        if spec.get("hostname") and spec.get("subdomain") == metadata_of(service)["name"]:
            endpoint["hostname"] = spec["hostname"]
        endpoint["targetRef"] = _target(pod)
        if spec.get("nodeName"):
            endpoint["nodeName"] = spec["nodeName"]
            node = self.objects.get("nodes", spec["nodeName"]) or {}
            zone = part_of(node, "metadata", "labels").get("topology.kubernetes.io/zone")
            if zone:
                endpoint["zone"] = zone
        return endpoint

    def _write(
        self, service: Object, old: Object | None, endpoints: list[Object], ports: object
    ) -> None:
        metadata = metadata_of(service)
        labels = {
            **(metadata.get("labels") or {}),
            _MANAGER: "endpointslice-controller.k8s.io",
            _SERVICE: metadata["name"],
        }
        if is_headless(service):
            labels[_HEADLESS] = ""
        content: Object = {"addressType": "IPv4", "endpoints": endpoints or None, "ports": ports}
        if old is None:
            content["metadata"] = {
                "generateName": f"{metadata['name']}-",
                "namespace": metadata["namespace"],
                "labels": labels,
                "annotations": {_TRIGGER: self.today},
                "ownerReferences": [controller_reference(service)],
            }
            self.client.create("discovery.k8s.io/v1", "EndpointSlice", content)
            return
        same = (old.get("endpoints") or []) == endpoints and old.get("ports") == ports
        if same and metadata_of(old).get("labels") == labels:
            return
        changed = copied(old) | content
        changed["metadata"]["labels"] = labels
        changed["metadata"].setdefault("annotations", {})[_TRIGGER] = self.today
        self.client.update(changed)


def is_headless(service: Object) -> bool:
    """Whether a service has no address of its own."""
    return part_of(service, "spec").get("clusterIP") == "None"


def slice_ports(service: Object, pods: list[Object]) -> list[Object]:
    """Ports of the pods of a service, by the names that the service gives them."""
    mades = []
    for entry in entries_of(service, "spec", "ports"):
        target = entry.get("targetPort", entry["port"])
        if isinstance(target, str):
            target = _port_number(pods, target, entry.get("protocol", "TCP"))
            if target is None:
                continue
        result = {"name": entry.get("name", ""), "port": target or entry["port"]}
        result["protocol"] = entry.get("protocol", "TCP")
        if entry.get("appProtocol"):
            result["appProtocol"] = entry["appProtocol"]
        mades.append(result)
    return mades


def _port_number(pods: list[Object], name: str, protocol: str) -> int | None:
    for pod in pods:
        for container in entries_of(pod, "spec", "containers"):
            for port in entries_of(container, "ports"):
                if port.get("name") == name and port.get("protocol", "TCP") == protocol:
                    return int(port["containerPort"])
    return None


def _target(pod: Object) -> Object:
    metadata = metadata_of(pod)
    return {
        "kind": "Pod",
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
    }


def _facts(pod: Object) -> tuple[object, ...]:
    status = part_of(pod, "status")
    return (
        status.get("podIP"),
        status.get("phase"),
        pod_facts.is_ready(pod),
        pod_facts.is_going(pod),
        part_of(pod, "spec").get("nodeName"),
        metadata_of(pod).get("labels"),
    )
