"""Chart values of Cilium on Talos."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.cilium.settings import CiliumSettings, settings_of
from stockman.catalog.component import ComponentContext

_KUBEPRISM = 7445
_AGENT = (
    "CHOWN",
    "KILL",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "SYS_ADMIN",
    "SYS_RESOURCE",
    "PERFMON",
    "BPF",
    "DAC_OVERRIDE",
    "FOWNER",
    "SETGID",
    "SETUID",
)
"""Capabilities of the agent: Talos loads kernel modules itself, so SYS_MODULE is not needed."""
_CLEANER = ("NET_ADMIN", "SYS_ADMIN", "SYS_RESOURCE")


def values(context: ComponentContext) -> Object:
    """Return the chart values."""
    cluster, settings = context.cluster, settings_of(context)
    monitored = context.is_enabled("prometheus-operator-crds")
    chart_values: Object = {
        "autoDirectNodeRoutes": True,
        # BPF masquerading bypasses the node's DNS forwarding unless routing stays in the host.
        "bpf": {"masquerade": True, "hostLegacyRouting": True},
        "cgroup": {"autoMount": {"enabled": False}, "hostRoot": "/sys/fs/cgroup"},
        "cni": {"exclusive": False},
        "dashboards": {"enabled": monitored},
        "endpointRoutes": {"enabled": True},
        "envoy": {"enabled": False},
        "gatewayAPI": _gateways(settings),
        "hubble": _hubble(settings, monitored=monitored),
        "ipam": {"mode": "kubernetes"},
        "ipv4NativeRoutingCIDR": str(cluster.kubernetes.pod_cidr),
        "k8sServiceHost": "127.0.0.1",
        "k8sServicePort": _KUBEPRISM,
        "kubeProxyReplacement": True,
        "kubeProxyReplacementHealthzBindAddr": "0.0.0.0:10256",
        "l2announcements": {"enabled": cluster.cilium.bgp is None},
        "l7Proxy": settings.l7_policies,
        "loadBalancer": {"algorithm": "maglev", "mode": cluster.cilium.loadbalancer_mode},
        "localRedirectPolicies": {"enabled": True},
        "operator": {
            "dashboards": {"enabled": monitored},
            "prometheus": {"enabled": monitored, "serviceMonitor": {"enabled": monitored}},
            "replicas": 2 if len(context.desired.nodes) > 1 else 1,
            "rollOutPods": True,
        },
        "prometheus": {
            "enabled": monitored,
            "serviceMonitor": {"enabled": monitored, "trustCRDsExist": monitored},
        },
        "rollOutCiliumPods": True,
        "routingMode": "native",
        "securityContext": {
            "capabilities": {"ciliumAgent": list(_AGENT), "cleanCiliumState": list(_CLEANER)}
        },
        "socketLB": {"enabled": True},
    }
    if cluster.cilium.bgp is not None:
        chart_values["bgpControlPlane"] = {"enabled": True}
    if settings.encryption != "none":
        chart_values["encryption"] = {
            "enabled": True,
            "type": settings.encryption,
            "nodeEncryption": settings.node_encryption,
        }
    if settings.mutual_authentication:
        chart_values["authentication"] = {"enabled": True, "mutual": {"spire": _spire(context)}}
    return chart_values


def has_parts_for_later(context: ComponentContext) -> bool:
    """Return whether parts of it need components that are installed later: volumes, node
    identities."""
    settings = settings_of(context)
    clouds = any(context.is_enabled(name) for name in ("proxmox-ccm", "talos-ccm"))
    if settings.mutual_authentication and (clouds or _has_volumes(context)):
        return True
    return clouds and (settings.hubble or settings.hubble_ui)


def _has_volumes(context: ComponentContext) -> bool:
    return any(context.is_enabled(name) for name in ("proxmox-csi", "rook-ceph"))


def _spire(context: ComponentContext) -> Object:
    """Return values of SPIRE: where its agents may run, and a volume if there is storage."""
    volumes = _has_volumes(context)
    return {
        "enabled": True,
        "install": {
            "enabled": True,
            # SPIRE agents use the host network, which Talos only allows in privileged namespaces.
            "namespace": context.namespace,
            "existingNamespace": True,
            "server": {"dataStorage": {"enabled": volumes}},
        },
    }


def _gateways(settings: CiliumSettings) -> Object:
    if not settings.gateway_api:
        return {"enabled": False}
    return {"enabled": True, "enableAlpn": True, "enableAppProtocol": True}


def _hubble(settings: CiliumSettings, *, monitored: bool) -> Object:
    if not (settings.hubble or settings.hubble_ui):
        return {"enabled": False}
    hubble: Object = {
        "enabled": True,
        "relay": {"enabled": True, "rollOutPods": True},
        # Certificates created by Helm would expire after a year without an upgrade.
        "tls": {"auto": {"enabled": True, "method": "cronJob"}},
        "ui": {"enabled": settings.hubble_ui, "rollOutPods": True},
    }
    if monitored:
        hubble["metrics"] = {
            "enabled": ["dns:query", "drop", "tcp", "flow", "port-distribution", "icmp"],
            "serviceMonitor": {"enabled": True},
        }
    return hubble
