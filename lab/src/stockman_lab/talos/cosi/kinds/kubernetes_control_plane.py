"""The control plane: settings of its programs, their static pods, and applied manifests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.collection import collection
from stockman_lab.talos.cosi.facts import nodename
from stockman_lab.talos.cosi.kinds.kubernetes_kubelet import arguments, command
from stockman_lab.talos.cosi.registry import Contents, kind, kind_of
from stockman_lab.talos.cosi.tables import definitions
from stockman_lab.talos.status import has_static_pods

if TYPE_CHECKING:
    from stockman_lab.talos.config.effective_record import Effective
    from stockman_lab.talos.config.kubernetes_setting import Component
    from stockman_lab.talos.machine import Machine

_API_SERVER = "kube-apiserver"
_CONTROLLER_MANAGER = "kube-controller-manager"
_SCHEDULER = "kube-scheduler"
_CONFIGS = {
    _API_SERVER: "APIServerConfigs.kubernetes.talos.dev",
    _CONTROLLER_MANAGER: "ControllerManagerConfigs.kubernetes.talos.dev",
    _SCHEDULER: "SchedulerConfigs.kubernetes.talos.dev",
}
_USERS = {_API_SERVER: 65534, _CONTROLLER_MANAGER: 65535, _SCHEDULER: 65536}
_CRITICAL = 2000000000
_CONDITIONS = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)


@dataclass(frozen=True, slots=True)
class _Program:
    """One program of the control plane of a machine."""

    name: str
    component: Component
    config: Effective

    def arguments(self) -> dict[str, str]:
        """Those that Talos sets."""
        secrets, kubernetes = f"/system/secrets/kubernetes/{self.name}", self.config.kubernetes
        if self.name == _API_SERVER:
            return {
                "advertise-address": "$(POD_IP)",
                "allow-privileged": "true",
                "client-ca-file": f"{secrets}/ca.crt",
                "enable-bootstrap-token-auth": "true",
                "etcd-servers": "https://127.0.0.1:2379",
                "secure-port": str(kubernetes.api_port),
                "service-account-issuer": self.config.endpoint,
                "service-cluster-ip-range": ",".join(kubernetes.service_subnets),
                "tls-cert-file": f"{secrets}/apiserver.crt",
                "tls-private-key-file": f"{secrets}/apiserver.key",
            }
        own = {
            "authentication-kubeconfig": f"{secrets}/kubeconfig",
            "authorization-kubeconfig": f"{secrets}/kubeconfig",
            "bind-address": "127.0.0.1",
            "leader-elect": "true",
        }
        if self.name == _CONTROLLER_MANAGER:
            own |= {
                "allocate-node-cidrs": "true",
                "cluster-cidr": ",".join(kubernetes.pod_subnets),
                "kubeconfig": f"{secrets}/kubeconfig",
                "service-cluster-ip-range": ",".join(kubernetes.service_subnets),
            }
            if kubernetes.external_cloud_provider:
                own["cloud-provider"] = "external"
        return own


def _programs(machine: Machine) -> dict[str, _Program]:
    config = machine.config
    if config is None or not config.is_controlplane:
        return {}
    kubernetes = config.kubernetes
    components = {
        _API_SERVER: kubernetes.api_server,
        _CONTROLLER_MANAGER: kubernetes.controller_manager,
        _SCHEDULER: kubernetes.scheduler,
    }
    return {name: _Program(name, component, config) for name, component in components.items()}


def _running(machine: Machine) -> Iterator[_Program]:
    if machine.service("etcd") is not None:
        for program in _programs(machine).values():
            if program.component.enabled or program.name == _API_SERVER:
                yield program


def _settings(machine: Machine, name: str, spec: dict[str, object]) -> Contents:
    """The settings of a program and, since 1.14, its final arguments."""
    program = _programs(machine).get(name)
    if program is None:
        return {}
    component = program.component
    spec |= {"image": component.image, "environmentVariables": component.environment}
    if name != _API_SERVER:
        spec["enabled"] = component.enabled
    settings = {**spec, "extraArgs": arguments(machine.minor, component.arguments)}
    if not machine.at_least("1.14"):
        return {name: settings}
    line = command("", program.arguments(), component.arguments)
    return {name: settings, f"final-{name}": {**spec, "args": line}}


@kind(_CONFIGS[_API_SERVER], "k8s.ControlPlaneAPIServerController")
def api_server_configs(machine: Machine) -> Contents:
    config = machine.config
    if config is None:
        return {}
    spec: dict[str, object] = {
        "controlPlaneEndpoint": config.endpoint,
        "etcdServers": ["https://127.0.0.1:2379"],
        "localPort": config.kubernetes.api_port,
        "serviceCIDR": list(config.kubernetes.service_subnets),
        "advertisedAddress": "" if config.kubelet.skips_registration else "$(POD_IP)",
    }
    return _settings(machine, _API_SERVER, spec)


@kind(_CONFIGS[_CONTROLLER_MANAGER], "k8s.ControlPlaneControllerManagerController")
def controller_manager_configs(machine: Machine) -> Contents:
    config = machine.config
    if config is None:
        return {}
    kubernetes = config.kubernetes
    spec: dict[str, object] = {
        "cloudProvider": "external" if kubernetes.external_cloud_provider else "",
        "podCIDRs": list(kubernetes.pod_subnets),
        "serviceCIDRs": list(kubernetes.service_subnets),
    }
    return _settings(machine, _CONTROLLER_MANAGER, spec)


@kind(_CONFIGS[_SCHEDULER], "k8s.ControlPlaneSchedulerController")
def scheduler_configs(machine: Machine) -> Contents:
    return _settings(machine, _SCHEDULER, {})


def _config_version(machine: Machine, program: str) -> int:
    """The version of the settings of a program, which its pod is annotated with."""
    resource = f"final-{program}" if machine.at_least("1.14") else program
    definition = definitions(machine.minor)[_CONFIGS[program].lower()]
    config_kind = kind_of(definition.type)
    if config_kind is None:
        return 0
    settings = collection(machine, definition, config_kind).items.get(resource)
    return settings.version if settings is not None else 0


@kind(
    "BootstrapManifestsConfigs.kubernetes.talos.dev",
    "k8s.ControlPlaneBootstrapManifestsController",
)
def bootstrap_manifests_configs(machine: Machine) -> Contents:
    """What Talos installs itself; `talosctl health` >= 1.13 looks for the CNI in it."""
    config = machine.config
    if config is None or config.is_partial or not config.is_controlplane:
        return {}
    kubernetes = config.kubernetes
    settings = {
        "clusterDomain": kubernetes.dns_domain,
        "podCIDRs": list(kubernetes.pod_subnets),
        "proxyEnabled": kubernetes.proxy.enabled,
        "proxyImage": kubernetes.proxy.image,
        "coreDNSEnabled": kubernetes.core_dns.enabled,
        "coreDNSImage": kubernetes.core_dns.image,
        "flannelEnabled": kubernetes.cni == "flannel",
        "cniName": kubernetes.cni,
    }
    return {"manifests": settings}


@kind("StaticPods.kubernetes.talos.dev", "k8s.ControlPlaneStaticPodController")
def static_pods(machine: Machine) -> Contents:
    pods = {program.name: _pod(machine, program) for program in _running(machine)}
    config = machine.config
    for pod in config.static_pods if config is not None else ():
        metadata = pod.get("metadata")
        names = metadata if isinstance(metadata, dict) else {}
        pods[f"{names.get('namespace', 'default')}-{names.get('name', '')}"] = pod
    return pods


def _pod(machine: Machine, program: _Program) -> dict[str, object]:
    name, component = program.name, program.component
    version = component.image.partition("@")[0].rpartition(":")[2]
    folders = {"secrets": f"/system/secrets/kubernetes/{name}"}
    if name != _CONTROLLER_MANAGER:
        folders["config"] = f"/system/config/kubernetes/{name}"
    container = {
        "name": name,
        "image": component.image,
        "command": command(f"/usr/local/bin/{name}", program.arguments(), component.arguments),
        "env": [
            {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            *({"name": key, "value": value} for key, value in component.environment.items()),
        ],
        "volumeMounts": [
            {"name": folder, "mountPath": path, "readOnly": True}
            for folder, path in folders.items()
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
                "talos.dev/config-version": str(_config_version(machine, name)),
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
            "volumes": [
                {"name": folder, "hostPath": {"path": path}} for folder, path in folders.items()
            ],
        },
    }


@kind("StaticPodStatuses.kubernetes.talos.dev", "k8s.KubeletStaticPodController")
def static_pod_statuses(machine: Machine) -> Contents:
    if not machine.runs("kubelet") or not has_static_pods(machine):
        return {}
    ready_at = machine.state.kubernetes.static_pods_ready_at or machine.now
    since = datetime.fromtimestamp(int(ready_at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        f"kube-system/{program.name}-{nodename(machine)}": _status(machine, program, since)
        for program in _running(machine)
    }


def _status(machine: Machine, program: _Program, since: str) -> dict[str, object]:
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
                "image": program.component.image,
                "name": program.name,
                "ready": True,
                "restartCount": 0,
                "started": True,
                "state": {"running": {"startedAt": since}},
            }
        ],
        "hostIP": machine.address,
        "phase": "Running",
        "podIP": machine.address,
        "podIPs": [{"ip": machine.address}],
        "qosClass": "Burstable",
        "startTime": since,
    }


@kind("Manifests.kubernetes.talos.dev", "k8s.ManifestController")
def manifests(machine: Machine) -> Contents:
    kubernetes = machine.land.kubernetes
    if kubernetes is None or not machine.is_controlplane or not machine.runs("etcd"):
        return {}
    return {name: {"items": list(items)} for name, items in kubernetes.manifests(machine).items()}
