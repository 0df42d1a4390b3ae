"""The Node of a machine, and where the Kubernetes API is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.facts import is_configured, nodename
from stockman_lab.talos.cosi.kinds.network_addresses import node_ip_addresses
from stockman_lab.talos.cosi.kinds.runtime_system import extension_statuses
from stockman_lab.talos.cosi.registry import Contents, kind

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_EXTENSIONS = "extensions.talos.dev/"
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


@kind("Nodenames.kubernetes.talos.dev", "k8s.NodenameController")
def nodenames(machine: Machine) -> Contents:
    config, name = machine.config, nodename(machine)
    if config is None or not name:
        return {}
    return {
        "nodename": {
            "nodename": name,
            "hostnameVersion": "1",
            "skipNodeRegistration": config.kubelet.skips_registration,
        }
    }


@kind("NodeStatuses.kubernetes.talos.dev", "k8s.NodeStatusController")
def node_statuses(machine: Machine) -> Contents:
    state, name = machine.state.kubernetes, nodename(machine)
    if not name or not state.registered or not machine.runs("kubelet"):
        return {}
    status: dict[str, object] = {
        "nodename": name,
        "nodeReady": state.node_ready,
        "unschedulable": state.cordoned,
        "labels": {**_own_labels(machine, name), **_labels(machine)},
        "annotations": _annotations(machine),
    }
    return {name: status}


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
