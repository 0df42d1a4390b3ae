"""Which key decides which part of a machine configuration before any patch.

`source.field` names a field of a record that knows its origins; `a|b` the first of the two that was
written. Any other text names a default. A path holds for everything below it that has no line of
its own, `[0]` is the first item of a list and `[]` any other.
"""

from __future__ import annotations

from collections.abc import Mapping

BY_TALOS = "as Talos has it"
"""What `talosctl gen config` of the contract writes too."""
_CILIUM = "stockman, Cilium does it"
_COREDNS = "stockman, CoreDNS comes as a component"
_ENCRYPTED = "node.encrypt_disk"
_DISK = "node.disk_selector|node.disk"
_MODULES = "node.kernel_modules|node.talos.nvidia"
_SYSCTLS = "node.talos.sysctls|node.talos.nvidia"
_NODE_IP = "node.talos.kubelet.node_ip_subnets|network.node_cidr"
_CLUSTER_DNS = "node.talos.kubelet.cluster_dns|kubernetes.coredns_addr"
_KUBELET_ARGUMENTS = "node.talos.kubelet.extra_args|component talos-ccm.enabled"
_ACCESS = "component tuppr.enabled|component talos-ccm.enabled|component talos-backup.enabled"
_SEARCH = "stockman, names are looked up as written"
_NAMES = {"[0]": "kubernetes.api_addr", "": "kubernetes.api_tls_sans"}


def _names(path: str) -> dict[str, str]:
    return {f"{path}{place}": rule for place, rule in _NAMES.items()}


def _host_dns(path: str) -> dict[str, str]:
    return {
        f"{path}.enabled": "talos.host_dns.enabled",
        f"{path}.forwardKubeDNSToHost": "talos.host_dns.forward_kube_dns",
        f"{path}.resolveMemberNames": "talos.host_dns.resolve_member_names",
    }


def _link(path: str) -> dict[str, str]:
    """The link with the node's address, or the VLAN on it, in the v1alpha1 document."""
    return {
        path: "network.addressing",
        f"{path}.deviceSelector": "node.mac_addr",
        f"{path}.interface": "node.bond",
        f"{path}.bond": "node.bond",
        f"{path}.mtu": "node.mtu",
        f"{path}.addresses": "node.address",
        f"{path}.routes": "node.routes",
        f"{path}.routes[0]": "network.default_gateway",
        f"{path}.routes[0].network": BY_TALOS,
        f"{path}.vip": "kubernetes.api_addr",
        f"{path}.vlanId": "network.vlan_tag",
    }


_V1ALPHA1: dict[str, str] = {
    "": BY_TALOS,
    "machine.type": "node.role",
    **_names("machine.certSANs"),
    "machine.kubelet.image": "kubernetes.version",
    "machine.kubelet.clusterDNS": _CLUSTER_DNS,
    "machine.kubelet.extraArgs": _KUBELET_ARGUMENTS,
    "machine.kubelet.extraConfig": "node.talos.kubelet.extra_config",
    "machine.kubelet.extraMounts": "node.talos.kubelet.extra_mounts",
    "machine.kubelet.nodeIP": _NODE_IP,
    "machine.network.hostname": "node.name",
    "machine.network.interfaces": "node.links",
    **_link("machine.network.interfaces[0]"),
    "machine.network.interfaces[0].vlans": "node.vlans",
    "machine.network.interfaces[0].vlans[].dhcp": "node.vlans",
    "machine.network.nameservers": "network.dns_servers",
    "machine.network.disableSearchDomain": _SEARCH,
    "machine.network.extraHostEntries": "node.talos.host_entries",
    "machine.network.kubespan": "talos.kubespan",
    "machine.install.disk": _DISK,
    "machine.install.diskSelector": _DISK,
    "machine.install.image": "talos.version",
    "machine.registries": "talos.registries",
    "machine.time": "network.ntp_servers",
    "machine.time.servers": "network.ntp_servers",
    "machine.kernel.modules": _MODULES,
    "machine.sysctls": _SYSCTLS,
    "machine.sysfs": "node.talos.sysfs",
    "machine.udev.rules": "node.talos.udev_rules",
    "machine.env": "node.talos.environment",
    "machine.files": "node.talos.nvidia",
    "machine.features.kubePrism.enabled": "talos.kube_prism.enabled",
    "machine.features.kubePrism.port": "talos.kube_prism.port",
    **_host_dns("machine.features.hostDNS"),
    "machine.features.kubernetesTalosAPIAccess": _ACCESS,
    "machine.nodeLabels": "node.labels",
    "machine.nodeLabels.node.kubernetes.io/exclude-from-external-load-balancers": BY_TALOS,
    "machine.nodeAnnotations": "node.annotations",
    "machine.nodeTaints": "node.taints",
    "cluster.controlPlane.endpoint": "kubernetes.api_endpoint",
    "cluster.clusterName": "cluster.name",
    "cluster.network.cni": _CILIUM,
    "cluster.network.podSubnets": "kubernetes.pod_cidr",
    "cluster.network.serviceSubnets": "kubernetes.svc_cidr",
    "cluster.apiServer.image": "kubernetes.version",
    "cluster.apiServer.extraArgs": "kubernetes.extra_args.api_server|kubernetes.oidc",
    **_names("cluster.apiServer.certSANs"),
    "cluster.controllerManager.image": "kubernetes.version",
    "cluster.controllerManager.extraArgs": "kubernetes.extra_args.controller_manager",
    "cluster.proxy.image": "kubernetes.version",
    "cluster.proxy.disabled": _CILIUM,
    "cluster.scheduler.image": "kubernetes.version",
    "cluster.scheduler.extraArgs": "kubernetes.extra_args.scheduler",
    "cluster.discovery.enabled": "talos.discovery",
    "cluster.etcd.advertisedSubnets": "network.node_cidr",
    "cluster.etcd.extraArgs": "kubernetes.extra_args.etcd",
    "cluster.extraManifests": "kubernetes.extra_manifests",
    "cluster.inlineManifests": "kubernetes.inline_manifests",
    "cluster.coreDNS.disabled": _COREDNS,
    "cluster.externalCloudProvider": "component proxmox-ccm.enabled|component talos-ccm.enabled",
    "cluster.allowSchedulingOnControlPlanes": "kubernetes.schedule_on_controllers",
}

_LINK = {
    "name": "stockman, the link with the node's address",
    "up": "stockman, the link with the node's address",
    "mtu": "node.mtu",
    "addresses": "node.address",
    "routes": "node.routes",
    "routes[0]": "network.default_gateway",
}
TAGGED = _link("machine.network.interfaces[0].vlans[0]")
"""What the v1alpha1 document has besides where the node's address is on a VLAN."""
VLAN = "VLANConfig"
OTHER_VLAN = {"": "node.vlans"}
OTHER_CARD = {"": "node.bond"}

_IMAGE = {"image": "kubernetes.version"}

OTHER_LINK = ("name", "mtu", "addresses", "routes", "dhcp", "vlans", "mac_addr")
"""Fields of a link besides the node's own; most of them are called so in its document too."""

RULES: Mapping[str, Mapping[str, str]] = {
    "": _V1ALPHA1,
    "HostnameConfig": {"hostname": "node.name"},
    "LinkAliasConfig": {"": "node.mac_addr"},
    "LinkConfig": {"": "node.links", **_LINK},
    VLAN: {"": "network.vlan_tag", **_LINK},
    "DHCPv4Config": {"": "network.addressing"},
    "Layer2VIPConfig": {"": "kubernetes.api_addr"},
    "ResolverConfig": {
        "nameservers": "network.dns_servers",
        "searchDomains": _SEARCH,
        **_host_dns("hostDNS"),
    },
    "TimeSyncConfig": {"ntp.servers": "network.ntp_servers"},
    "UnattendedInstallConfig": {
        "installer.image": "talos.version",
        "provisioning.diskSelector": _DISK,
    },
    "VolumeConfig": {
        "": "node.talos.ephemeral|node.encrypt_disk",
        "encryption": _ENCRYPTED,
        "mount": BY_TALOS,
    },
    "UserVolumeConfig": {"": "node.talos.volumes"},
    "RawVolumeConfig": {"": "node.talos.volumes"},
    "SwapVolumeConfig": {"": "node.talos.volumes"},
    "KernelModuleConfig": {"": _MODULES},
    "SysctlConfig": {"params": _SYSCTLS},
    "SysfsConfig": {"params": "node.talos.sysfs"},
    "UdevRulesConfig": {"rules": "node.talos.udev_rules"},
    "EnvironmentConfig": {"variables": "node.talos.environment"},
    "CRICustomizationConfig": {"": "node.talos.nvidia"},
    "WatchdogTimerConfig": {"": "node.talos.watchdog"},
    "KmsgLogConfig": {"": "node.talos.kernel_logs"},
    "TrustedRootsConfig": {"": "node.talos.trusted_roots"},
    "StaticHostConfig": {"": "node.talos.host_entries"},
    "KubeSpanConfig": {"": "talos.kubespan"},
    "NetworkDefaultActionConfig": {"": "talos.firewall.enabled"},
    "NetworkRuleConfig": {"": "talos.firewall.rules|talos.firewall.enabled"},
    "BondConfig": {**_LINK, "": "node.bond", "name": "node.bond", "up": "node.bond"},
    "DiscoveryServiceConfig": {"": "talos.discovery", "endpoint": BY_TALOS},
    "KubePrismConfig": {"port": "talos.kube_prism.port"},
    "KubeExternalManifestConfig": {"": "kubernetes.extra_manifests"},
    "KubeInlineManifestConfig": {"": "kubernetes.inline_manifests"},
    "RegistryMirrorConfig": {"": "talos.registries"},
    "RegistryAuthConfig": {"": "talos.registries"},
    "RegistryTLSConfig": {"": "talos.registries"},
    "KubeClusterConfig": {"clusterName": "cluster.name", "endpoint": "kubernetes.api_endpoint"},
    "KubeNodeConfig": {
        "nodeIP": _NODE_IP,
        "labels": "node.labels",
        "labels.node-role.kubernetes.io/control-plane": BY_TALOS,
        "labels.node.kubernetes.io/exclude-from-external-load-balancers": BY_TALOS,
        "annotations": "node.annotations",
        "taints": "node.taints",
        "taints.node-role.kubernetes.io/control-plane": "kubernetes.schedule_on_controllers",
    },
    "KubeletConfig": {
        **_IMAGE,
        "config": "node.talos.kubelet.extra_config",
        "extraArgs": _KUBELET_ARGUMENTS,
        "clusterDNS": _CLUSTER_DNS,
    },
    "KubeNetworkConfig": {
        "podSubnets": "kubernetes.pod_cidr",
        "serviceSubnets": "kubernetes.svc_cidr",
    },
    "KubeAuthenticationConfig": {"configuration.jwt": "kubernetes.oidc"},
    "KubeServiceAccountConfig": {"issuer.issuerURL": "kubernetes.api_endpoint"},
    "KubeTalosAPIAccessConfig": {"": _ACCESS},
    "KubeAPIServerConfig": {
        **_IMAGE,
        "extraArgs": "kubernetes.extra_args.api_server",
        **_names("certExtraSANs"),
    },
    "KubeControllerManagerConfig": {
        **_IMAGE,
        "extraArgs": "kubernetes.extra_args.controller_manager",
    },
    "KubeSchedulerConfig": {**_IMAGE, "extraArgs": "kubernetes.extra_args.scheduler"},
    "KubeProxyConfig": {**_IMAGE, "enabled": _CILIUM},
    "KubeCoreDNSConfig": {"enabled": _COREDNS},
}
