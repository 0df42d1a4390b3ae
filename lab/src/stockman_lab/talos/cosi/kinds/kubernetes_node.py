"""The Node of a machine, and where the Kubernetes API is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.content import Contents
from stockman_lab.talos.cosi.facts import is_configured, nodename
from stockman_lab.talos.cosi.kinds.network_addresses import node_ip_addresses
from stockman_lab.talos.cosi.kinds.runtime_system import extension_statuses
from stockman_lab.talos.cosi.registry import kind
from stockman_lab.talos.cosi.versions import version_of

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_EXTENSIONS = "extensions.talos.dev/"
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


@kind("Nodenames.kubernetes.talos.dev", "k8s.NodenameController")
def nodenames(machine: Machine) -> Contents:
    config, name = machine.config, nodename(machine)
    if config is None or not name:
        return {}
    version = version_of(machine, "HostnameStatuses.net.talos.dev", "hostname")
    return {
        "nodename": {
            "nodename": name,
            "hostnameVersion": str(version),
            "skipNodeRegistration": config.kubelet.skips_registration,
        }
    }


@kind("NodeIPConfigs.kubernetes.talos.dev", "k8s.NodeIPConfigController")
def node_ip_configs(machine: Machine) -> Contents:
    config = machine.config
    if config is None or config.is_partial:
        return {}
    subnets = config.kubelet.node_ip_subnets
    valid = [subnet for subnet in subnets if not subnet.startswith("!")]
    if not subnets:
        valid = ["0.0.0.0/0", "::/0"]
    excluded = [subnet[1:] for subnet in subnets if subnet.startswith("!")]
    shared = [config.links[0].vips[0]] if config.links and config.links[0].vips else []
    kubernetes = [*config.kubernetes.pod_subnets, *config.kubernetes.service_subnets]
    return {"kubelet": {"validSubnets": valid, "excludeSubnets": [*excluded, *kubernetes, *shared]}}


@kind("NodeStatuses.kubernetes.talos.dev", "k8s.NodeStatusController")
def node_statuses(machine: Machine) -> Contents:
    state, name = machine.state.kubernetes, nodename(machine)
    if not name or not state.registered or not machine.runs("kubelet"):
        return {}
    found: dict[str, object] = {
        "nodename": name,
        "nodeReady": state.node_ready,
        "unschedulable": state.cordoned,
        "labels": {**_own_labels(machine, name), **_labels(machine)},
        "annotations": _annotations(machine),
    }
    return {name: found}


def _own_labels(machine: Machine, name: str) -> dict[str, str]:
    """Those that the kubelet gives to every node."""
    architecture = machine.state.architecture
    return {
        "beta.kubernetes.io/arch": architecture,
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": architecture,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
    }


def _labels(machine: Machine) -> dict[str, str]:
    config = machine.config
    node_labels = dict(config.node_labels) if config is not None else {}
    if machine.is_controlplane:
        node_labels[_CONTROL_PLANE] = ""
    return node_labels | {
        key: value for key, value in _extension_values(machine).items() if "schematic" not in key
    }


def _annotations(machine: Machine) -> dict[str, str]:
    config = machine.config
    node_annotations = dict(config.node_annotations) if config is not None else {}
    return node_annotations | {
        key: value for key, value in _extension_values(machine).items() if "schematic" in key
    }


def _extension_values(machine: Machine) -> dict[str, str]:
    extension_values: dict[str, str] = {}
    for content in extension_statuses(machine).values():
        metadata = content["metadata"] if isinstance(content, dict) else {}
        extension_values[_EXTENSIONS + str(metadata["name"])] = str(metadata["version"])
    return extension_values


@kind("NodeLabelSpecs.k8s.talos.dev", "k8s.NodeLabelSpecController")
def node_label_specs(machine: Machine) -> Contents:
    if not is_configured(machine):
        return {}
    return {key: {"key": key, "value": value} for key, value in _labels(machine).items()}


@kind("NodeAnnotationSpecs.k8s.talos.dev", "k8s.NodeAnnotationSpecController")
def node_annotation_specs(machine: Machine) -> Contents:
    if not is_configured(machine):
        return {}
    return {key: {"key": key, "value": value} for key, value in _annotations(machine).items()}


@kind("NodeTaintSpecs.k8s.talos.dev", "k8s.NodeTaintSpecController")
def node_taint_specs(machine: Machine) -> Contents:
    config = machine.config
    if config is None or config.is_partial:
        return {}
    contents: dict[str, dict[str, object]] = {}
    for key, text in config.node_taints.items():
        value, colon, effect = text.rpartition(":")
        contents[key] = {"key": key, "effect": effect, "value": value if colon else ""}
    if config.is_controlplane and not config.kubernetes.schedules_on_control_planes:
        contents.setdefault(_CONTROL_PLANE, {"key": _CONTROL_PLANE, "effect": "NoSchedule"})
    return contents


@kind("Endpoints.kubernetes.talos.dev", "k8s.EndpointController")
def endpoints(machine: Machine) -> Contents:
    if not is_configured(machine):
        return {}
    addresses = sorted(
        address
        for controller in machine.land.controllers(machine)
        if controller is machine or controller.is_reachable
        for address in node_ip_addresses(controller)
    )
    return {"discovery": {"addresses": addresses}} if addresses else {}


@kind("KubePrismEndpoints.kubernetes.talos.dev", "k8s.KubePrismEndpointsController")
def kube_prism_endpoints(machine: Machine) -> Contents:
    prism_endpoints = _prism_endpoints(machine)
    return {"k8s-cluster": {"endpoints": prism_endpoints}} if prism_endpoints else {}


def _prism_endpoints(machine: Machine) -> list[dict[str, object]]:
    config = machine.config
    if config is None or config.is_partial or not config.features.kube_prism_port:
        return []
    host, _, port = config.endpoint.partition("://")[2].rpartition(":")
    prism_endpoints: list[dict[str, object]] = (
        [{"host": host.strip("[]"), "port": int(port)}] if host else []
    )
    own = {"host": "localhost", "port": config.kubernetes.api_port}
    prism_endpoints += [own] if config.is_controlplane else []
    for controller in machine.land.controllers(machine):
        for address in node_ip_addresses(controller):
            prism_endpoints.append({"host": address, "port": config.kubernetes.api_port})
    return prism_endpoints


@kind("KubePrismConfigs.kubernetes.talos.dev", "k8s.KubePrismConfigController")
def kube_prism_configs(machine: Machine) -> Contents:
    config, prism_endpoints = machine.config, _prism_endpoints(machine)
    if config is None or not prism_endpoints:
        return {}
    port = config.features.kube_prism_port
    return {
        "k8s-loadbalancer-config": {"host": "127.0.0.1", "port": port, "endpoints": prism_endpoints}
    }


@kind("KubePrismStatuses.kubernetes.talos.dev", "k8s.KubePrismController")
def kube_prism_statuses(machine: Machine) -> Contents:
    config = machine.config
    if config is None or not _prism_endpoints(machine):
        return {}
    healthy = any(
        controller.state.kubernetes.static_pods_ready_at is not None
        for controller in machine.land.controllers(machine)
    )
    host = f"127.0.0.1:{config.features.kube_prism_port}"
    return {"k8s-loadbalancer": {"host": host, "healthy": healthy}}
