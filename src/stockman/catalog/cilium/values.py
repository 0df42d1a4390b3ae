"""Settings of Cilium, rules between them, and its chart values on Talos."""

from __future__ import annotations

from typing import Annotated, Literal

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.model.formats import Example
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record


@record
class CiliumSettings(Traced):
    """Features of Cilium."""

    encryption: Literal["none", "wireguard"] = "none"
    """Encryption of traffic between nodes. Traffic between pods of one node is not encrypted."""
    node_encryption: bool = False
    """Whether traffic of the nodes themselves is encrypted too; needs `encryption`."""
    mutual_authentication: bool = False
    """Whether SPIRE verifies identities of workloads for policies that require it. Beta; does not
    encrypt."""
    hubble: bool = False
    """Whether network flows are recorded and can be queried."""
    hubble_ui: bool = False
    """Whether the Hubble web page is published on the internal gateway; enables `hubble`. It has no
    login."""
    gateway_api: bool = False
    """Whether Cilium serves gateways of the class `cilium`, in addition to envoy-gateway."""
    l7_policies: bool = True
    """Enable policies on HTTP, gRPC and DNS. They use a proxy on each node; when it restarts,
    connections under such a policy are interrupted."""
    l2_interfaces: tuple[Annotated[str, Example("^eth[0-9]+$")], ...] = ()
    """Regular expressions for links that announce addresses. Empty: all links."""


def check(context: ComponentContext, problems: Problems) -> None:
    """Report settings that contradict each other."""
    settings = context.settings_as(CiliumSettings)
    if settings.node_encryption and settings.encryption == "none":
        problems.error(
            "cilium.encryption",
            "cilium encrypts traffic of nodes, but encryption is off",
            why="node_encryption extends encryption, which is set to none",
            fix="set encryption to wireguard, or remove node_encryption",
            at=settings.where("node_encryption"),
        )
    if settings.gateway_api and not settings.l7_policies:
        problems.error(
            "cilium.gateway",
            "cilium serves gateways, but its proxy is off",
            why="gateways need the proxy, which l7_policies enables",
            fix="remove l7_policies: false, or gateway_api",
            at=settings.where("gateway_api"),
        )
    if settings.mutual_authentication and settings.encryption == "none":
        problems.warn(
            "cilium.authentication",
            "cilium verifies identities, but traffic is not encrypted",
            why="mutual authentication does not encrypt the connection",
            fix="set encryption to wireguard too",
            at=settings.where("mutual_authentication"),
        )


_KUBEPRISM = 7445
_AGENT = (
    *("CHOWN", "KILL", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "SYS_ADMIN", "SYS_RESOURCE"),
    *("PERFMON", "BPF", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"),
)
"""Capabilities of the agent: Talos loads kernel modules itself, so SYS_MODULE is not needed."""
_CLEANER = ("NET_ADMIN", "SYS_ADMIN", "SYS_RESOURCE")


def values(context: ComponentContext) -> Object:
    """Return the chart values."""
    cluster, settings = context.cluster, context.settings_as(CiliumSettings)
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
    """Return whether parts of it need components that are installed later.

    SPIRE and the relay of Hubble resolve names of Services, and are not scheduled before nodes have
    identities; SPIRE may need a volume.
    """
    settings = context.settings_as(CiliumSettings)
    later = any(context.is_enabled(name) for name in ("proxmox-ccm", "talos-ccm", "coredns"))
    if settings.mutual_authentication and (later or _has_volumes(context)):
        return True
    return later and (settings.hubble or settings.hubble_ui)


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
