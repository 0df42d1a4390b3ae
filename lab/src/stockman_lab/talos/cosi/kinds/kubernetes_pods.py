"""Pods that Talos itself asks the kubelet for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.arguments import command
from stockman_lab.talos.cosi.content import Contents
from stockman_lab.talos.cosi.facts import nodename
from stockman_lab.talos.cosi.moments import moment_text
from stockman_lab.talos.cosi.programs import own_arguments
from stockman_lab.talos.cosi.registry import kind
from stockman_lab.talos.cosi.versions import version_of
from stockman_lab.talos.status import has_static_pods

if TYPE_CHECKING:
    from stockman_lab.talos.config.effective import Effective
    from stockman_lab.talos.config.kubernetes_setting import Component
    from stockman_lab.talos.machine import Machine

_CONFIGS = {
    "kube-apiserver": "APIServerConfigs.kubernetes.talos.dev",
    "kube-controller-manager": "ControllerManagerConfigs.kubernetes.talos.dev",
    "kube-scheduler": "SchedulerConfigs.kubernetes.talos.dev",
}
_USERS = {"kube-apiserver": 65534, "kube-controller-manager": 65535, "kube-scheduler": 65536}
_CRITICAL = 2000000000
_CONDITIONS = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)


def config_version(machine: Machine, program: str) -> int:
    """The version of what a program is told, as its pod is annotated with it."""
    name = f"final-{program}" if machine.at_least("1.14") else program
    return version_of(machine, _CONFIGS[program], name)


def _programs(machine: Machine) -> Iterator[tuple[str, Component, Effective]]:
    config = machine.config
    if config is None or not config.is_controlplane or machine.service("etcd") is None:
        return
    kubernetes = config.kubernetes
    yield "kube-apiserver", kubernetes.api_server, config
    if kubernetes.controller_manager.enabled:
        yield "kube-controller-manager", kubernetes.controller_manager, config
    if kubernetes.scheduler.enabled:
        yield "kube-scheduler", kubernetes.scheduler, config


@kind("StaticPods.kubernetes.talos.dev", "k8s.ControlPlaneStaticPodController")
def static_pods(machine: Machine) -> Contents:
    pods: dict[str, dict[str, object]] = {}
    for name, component, told in _programs(machine):
        pods[name] = _pod(machine, name, component, told)
    config = machine.config
    for pod in config.static_pods if config is not None else ():
        metadata = pod.get("metadata")
        named = metadata if isinstance(metadata, dict) else {}
        pods[f"{named.get('namespace', 'default')}-{named.get('name', '')}"] = pod
    return pods


def _pod(machine: Machine, name: str, component: Component, config: Effective) -> dict[str, object]:
    version = component.image.partition("@")[0].rpartition(":")[2]
    folders = {"secrets": f"/system/secrets/kubernetes/{name}"}
    if name != "kube-controller-manager":
        folders["config"] = f"/system/config/kubernetes/{name}"
    container = {
        "name": name,
        "image": component.image,
        "command": command(
            f"/usr/local/bin/{name}", own_arguments(name, config), component.arguments
        ),
        "env": [
            {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            *({"name": key, "value": value} for key, value in component.environment.items()),
        ],
        "volumeMounts": [
            {"name": one, "mountPath": path, "readOnly": True} for one, path in folders.items()
        ],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "kube-system",
            "annotations": {
                "talos.dev/config-file-version": "1",
                "talos.dev/config-version": str(config_version(machine, name)),
                "talos.dev/secrets-version": "1",
            },
            "labels": {
                "app.kubernetes.io/component": "control-plane",
                "app.kubernetes.io/managed-by": "Talos",
                "app.kubernetes.io/name": name,
                "app.kubernetes.io/version": version,
                "component": name,
                "k8s-app": name,
                "tier": "control-plane",
            },
        },
        "spec": {
            "containers": [container],
            "hostNetwork": True,
            "priority": _CRITICAL,
            "priorityClassName": "system-cluster-critical",
            "securityContext": {
                "runAsGroup": _USERS[name],
                "runAsNonRoot": True,
                "runAsUser": _USERS[name],
            },
            "volumes": [{"name": one, "hostPath": {"path": path}} for one, path in folders.items()],
        },
    }


@kind("StaticPodStatuses.kubernetes.talos.dev", "k8s.KubeletStaticPodController")
def static_pod_statuses(machine: Machine) -> Contents:
    if not machine.runs("kubelet") or not has_static_pods(machine):
        return {}
    ready_at = machine.state.kubernetes.static_pods_ready_at or machine.now
    node = nodename(machine)
    return {
        f"kube-system/{name}-{node}": _status(machine, name, component.image, ready_at)
        for name, component, _ in _programs(machine)
    }


def _status(machine: Machine, name: str, image: str, ready_at: float) -> dict[str, object]:
    since = moment_text(ready_at)
    return {
        "conditions": [
            {
                "lastProbeTime": None,
                "lastTransitionTime": since,
                "status": "True",
                "type": condition,
            }
            for condition in _CONDITIONS
        ],
        "containerStatuses": [
            {
                "image": image,
                "name": name,
                "ready": True,
                "restartCount": 0,
                "started": True,
                "state": {"running": {"startedAt": since}},
            }
        ],
        "hostIP": machine.address,
        "hostIPs": [{"ip": machine.address}],
        "phase": "Running",
        "podIP": machine.address,
        "podIPs": [{"ip": machine.address}],
        "qosClass": "Burstable",
        "startTime": since,
    }


@kind("StaticPodServerStatuses.kubernetes.talos.dev", "k8s.StaticPodServerController")
def static_pod_server_statuses(machine: Machine) -> Contents:
    if not any(True for _ in _programs(machine)):
        return {}
    return {"static-pod-server-status": {"url": "http://127.0.0.1:33439"}}
