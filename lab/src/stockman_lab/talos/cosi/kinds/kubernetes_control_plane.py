"""What the programs of the control plane are told."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.arguments import arguments, command
from stockman_lab.talos.cosi.content import Contents
from stockman_lab.talos.cosi.programs import own_arguments
from stockman_lab.talos.cosi.registry import kind

if TYPE_CHECKING:
    from stockman_lab.talos.config.effective import Effective
    from stockman_lab.talos.config.kubernetes_setting import Component
    from stockman_lab.talos.machine import Machine

_FINAL = "final-"
"""How those are called since 1.14 that hold all arguments."""


def _control_plane(machine: Machine) -> Effective | None:
    config = machine.config
    return config if config is not None and config.is_controlplane else None


def _requests(cpu: str, memory: str) -> dict[str, object]:
    return {"requests": {"cpu": cpu, "memory": memory}}


def _both(
    machine: Machine, config: Effective, name: str, spec: dict[str, object], component: Component
) -> Contents:
    """A component as it was asked for and, since 1.14, as it is run."""
    spec["environmentVariables"] = component.environment
    asked = {**spec, "extraArgs": arguments(machine.minor, component.arguments)}
    if not machine.at_least("1.14"):
        return {name: asked}
    line = command("", own_arguments(name, config), component.arguments)
    return {name: asked, f"{_FINAL}{name}": {**spec, "args": line}}


@kind("APIServerConfigs.kubernetes.talos.dev", "k8s.ControlPlaneAPIServerController")
def api_server_configs(machine: Machine) -> Contents:
    config = _control_plane(machine)
    if config is None:
        return {}
    kubernetes = config.kubernetes
    spec: dict[str, object] = {
        "image": kubernetes.api_server.image,
        "cloudProvider": "external" if kubernetes.external_cloud_provider else "",
        "controlPlaneEndpoint": config.endpoint,
        "etcdServers": ["https://127.0.0.1:2379"],
        "localPort": kubernetes.api_port,
        "serviceCIDR": list(kubernetes.service_subnets),
        "advertisedAddress": "" if config.kubelet.skips_registration else "$(POD_IP)",
        "resources": _requests("200m", "512Mi"),
    }
    return _both(machine, config, "kube-apiserver", spec, kubernetes.api_server)


@kind(
    "ControllerManagerConfigs.kubernetes.talos.dev",
    "k8s.ControlPlaneControllerManagerController",
)
def controller_manager_configs(machine: Machine) -> Contents:
    config = _control_plane(machine)
    if config is None:
        return {}
    kubernetes = config.kubernetes
    spec: dict[str, object] = {
        "enabled": kubernetes.controller_manager.enabled,
        "image": kubernetes.controller_manager.image,
        "cloudProvider": "external" if kubernetes.external_cloud_provider else "",
        "podCIDRs": list(kubernetes.pod_subnets),
        "serviceCIDRs": list(kubernetes.service_subnets),
        "resources": _requests("50m", "256Mi"),
    }
    component = kubernetes.controller_manager
    return _both(machine, config, "kube-controller-manager", spec, component)


@kind("SchedulerConfigs.kubernetes.talos.dev", "k8s.ControlPlaneSchedulerController")
def scheduler_configs(machine: Machine) -> Contents:
    config = _control_plane(machine)
    if config is None:
        return {}
    spec: dict[str, object] = {
        "enabled": config.kubernetes.scheduler.enabled,
        "image": config.kubernetes.scheduler.image,
        "resources": _requests("10m", "64Mi"),
    }
    return _both(machine, config, "kube-scheduler", spec, config.kubernetes.scheduler)


@kind(
    "BootstrapManifestsConfigs.kubernetes.talos.dev",
    "k8s.ControlPlaneBootstrapManifestsController",
)
def bootstrap_manifests_configs(machine: Machine) -> Contents:
    config = _control_plane(machine)
    if config is None:
        return {}
    kubernetes, port = config.kubernetes, config.features.kube_prism_port
    addresses = [
        str(ipaddress.ip_network(service_subnet, strict=False)[10])
        for service_subnet in kubernetes.service_subnets
    ]
    proxy = {
        "cluster-cidr": ",".join(kubernetes.pod_subnets),
        "hostname-override": "$(NODE_NAME)",
        "kubeconfig": "/etc/kubernetes/kubeconfig",
        "proxy-mode": kubernetes.proxy_mode or "nftables",
        "conntrack-max-per-core": "0",
    }
    return {
        "manifests": {
            "string": f"https://127.0.0.1:{port}" if port else config.endpoint,
            "clusterDomain": kubernetes.dns_domain,
            "podCIDRs": list(kubernetes.pod_subnets),
            "proxyEnabled": kubernetes.proxy.enabled,
            "proxyImage": kubernetes.proxy.image,
            "proxyArgs": command("", proxy, kubernetes.proxy.arguments),
            "coreDNSEnabled": kubernetes.core_dns.enabled,
            "coreDNSImage": kubernetes.core_dns.image,
            "dnsServiceIP": next((address for address in addresses if ":" not in address), ""),
            "dnsServiceIPv6": next((address for address in addresses if ":" in address), ""),
            "flannelEnabled": kubernetes.cni == "flannel",
            "flannelKubeServiceHost": "127.0.0.1" if port else "",
            "flannelKubeServicePort": str(port) if port else "",
            "talosAPIServiceEnabled": config.features.talos_api_access,
            "cniName": kubernetes.cni,
        }
    }


@kind("ExtraManifestsConfigs.kubernetes.talos.dev", "k8s.ControlPlaneExtraManifestsController")
def extra_manifests_configs(machine: Machine) -> Contents:
    config = _control_plane(machine)
    if config is None:
        return {}
    tolds = [
        {"name": cni_url, "url": cni_url, "priority": "05"}
        for cni_url in config.kubernetes.cni_urls
    ]
    for manifest in config.kubernetes.manifests:
        told = {
            "name": manifest.name,
            "url": manifest.url,
            "priority": "99",
            "inlineManifest": manifest.text,
        }
        tolds.append(told)
    return {"extra-manifests": {"extraManifests": tolds}}


@kind("AdmissionControlConfigs.kubernetes.talos.dev", "k8s.ControlPlaneAdmissionControlController")
def admission_control_configs(machine: Machine) -> Contents:
    config = _control_plane(machine)
    if config is None:
        return {}
    plugins = [
        {"name": name, "configuration": told} for name, told in config.kubernetes.admission.items()
    ]
    return {"admission-control": {"config": plugins}}


@kind("AuditPolicyConfigs.kubernetes.talos.dev", "k8s.ControlPlaneAuditPolicyController")
def audit_policy_configs(machine: Machine) -> Contents:
    config = _control_plane(machine)
    if config is None:
        return {}
    policy = config.kubernetes.audit_policy or {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "rules": [{"level": "Metadata"}],
    }
    return {"audit-policy": {"config": policy}}


@kind("ConfigStatuses.kubernetes.talos.dev", "k8s.RenderConfigsStaticPodController")
def config_statuses(machine: Machine) -> Contents:
    if _control_plane(machine) is None:
        return {}
    return {"static-pods": {"ready": True, "version": "1"}}


@kind("SecretStatuses.kubernetes.talos.dev", "k8s.RenderSecretsStaticPodController")
def secret_statuses(machine: Machine) -> Contents:
    if _control_plane(machine) is None or machine.service("etcd") is None:
        return {}
    return {"static-pods": {"ready": True, "version": "1"}}
