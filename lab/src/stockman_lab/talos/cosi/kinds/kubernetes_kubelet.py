"""The kubelet: what was told to it, and what runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stockman_lab.talos.config.kubernetes_setting import Arguments
from stockman_lab.talos.cosi.facts import nodename
from stockman_lab.talos.cosi.kinds.network_addresses import node_ip_addresses
from stockman_lab.talos.cosi.registry import Contents, kind

if TYPE_CHECKING:
    from stockman_lab.talos.config.effective_record import Effective
    from stockman_lab.talos.machine import Machine

_SINGLE = ("1.11", "1.12")
"""Minors where an argument has one value."""


def arguments(minor: str, arguments: Arguments) -> dict[str, object]:
    """Those of a configuration, in the form of a minor."""
    if minor in _SINGLE:
        return {name: values[-1] if values else "" for name, values in arguments.items()}
    return {name: {"values": list(values)} for name, values in arguments.items()}


def command(program: str, own: Mapping[str, str], arguments: Arguments) -> list[str]:
    """A command line: own arguments in order, overruled by those of the configuration."""
    merged: dict[str, tuple[str, ...]] = {name: (text,) for name, text in own.items()}
    merged |= arguments
    line = [f"--{name}={value}" for name in sorted(merged) for value in merged[name]]
    return [program, *line] if program else line


_TAINT = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}


def _cluster_dns(config: Effective) -> list[str]:
    import ipaddress

    if config.kubelet.cluster_dns:
        return list(config.kubelet.cluster_dns)
    subnets = config.kubernetes.service_subnets
    return [str(ipaddress.ip_network(subnet, strict=False)[10]) for subnet in subnets]


@kind("KubeletConfigs.kubernetes.talos.dev", "k8s.KubeletConfigController")
def kubelet_configs(machine: Machine) -> Contents:
    """The settings of the kubelet; `talosctl health` of 1.14 skips checks without them."""
    config = machine.config
    if config is None or config.is_partial:
        return {}
    settings: dict[str, object] = {
        "image": config.kubelet.image,
        "clusterDNS": _cluster_dns(config),
        "clusterDomain": config.kubernetes.dns_domain,
        "extraArgs": arguments(machine.minor, config.kubelet.arguments),
        "extraConfig": config.kubelet.config,
        "cloudProviderExternal": config.kubernetes.external_cloud_provider,
        "skipNodeRegistration": config.kubelet.skips_registration,
        "allowSchedulingOnControlPlane": config.kubernetes.schedules_on_control_planes,
    }
    return {"kubelet": settings}


@kind("KubeletSpecs.kubernetes.talos.dev", "k8s.KubeletSpecController")
def kubelet_specs(machine: Machine) -> Contents:
    config, name, addresses = machine.config, nodename(machine), node_ip_addresses(machine)
    if config is None or config.is_partial or not name or not addresses:
        return {}
    own = {
        "config": "/etc/kubernetes/kubelet.yaml",
        "cert-dir": "/var/lib/kubelet/pki",
        "hostname-override": name,
        "node-ip": ",".join(addresses),
    }
    if not config.kubelet.skips_registration:
        own["bootstrap-kubeconfig"] = "/etc/kubernetes/bootstrap-kubeconfig"
        own["kubeconfig"] = "/etc/kubernetes/kubeconfig-kubelet"
    if config.kubernetes.external_cloud_provider:
        own["cloud-provider"] = "external"
    given = "hostname-override" in config.kubelet.arguments
    return {
        "kubelet": {
            "image": config.kubelet.image,
            "args": command("", own, config.kubelet.arguments),
            "expectedNodename": "" if given else name,
            "config": _configuration(config),
        }
    }


def _configuration(config: Effective) -> dict[str, object]:
    memory = "512Mi" if config.is_controlplane else "384Mi"
    defaults: dict[str, object] = {
        "address": "0.0.0.0",
        "oomScoreAdj": -450,
        "clusterDomain": config.kubernetes.dns_domain,
        "clusterDNS": _cluster_dns(config),
        "serializeImagePulls": False,
        "failSwapOn": False,
        "systemReserved": {
            "cpu": "50m",
            "ephemeral-storage": "256Mi",
            "memory": memory,
            "pid": "100",
        },
        "logging": {"format": "json"},
        "shutdownGracePeriod": "30s",
        "shutdownGracePeriodCriticalPods": "10s",
        "streamingConnectionIdleTimeout": "5m0s",
        "tlsMinVersion": "VersionTLS13",
    }
    fixed: dict[str, object] = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "port": 10250,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"cacheTTL": "0s", "enabled": True},
            "x509": {"clientCAFile": "/etc/kubernetes/pki/ca.crt"},
        },
        "authorization": {
            "mode": "Webhook",
            "webhook": {"cacheAuthorizedTTL": "0s", "cacheUnauthorizedTTL": "0s"},
        },
        "cgroupRoot": "/",
        "systemCgroups": "/system",
        "kubeletCgroups": "/podruntime/kubelet",
        "rotateCertificates": True,
        "protectKernelDefaults": True,
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "resolvConf": "/system/resolved/resolv.conf",
    }
    if config.kubelet.manifests_directory:
        fixed["staticPodPath"] = "/etc/kubernetes/manifests"
    if config.kubelet.seccomp_default:
        fixed["seccompDefault"] = True
    if config.is_controlplane and not config.kubernetes.schedules_on_control_planes:
        fixed["registerWithTaints"] = [dict(_TAINT)]
    return {**defaults, **config.kubelet.config, **fixed}
