"""Fields of the v1alpha1 document that a newer contract says elsewhere."""

from __future__ import annotations

from typing import NamedTuple


class Moved(NamedTuple):
    """One field, the contract from which on it is elsewhere, and where that is."""

    path: str
    since: str
    to: str


MOVED = tuple(
    Moved(*row)
    for row in (
        ("machine.network.hostname", "1.12", "HostnameConfig"),
        ("machine.network.interfaces", "1.12", "LinkConfig and its kin"),
        ("machine.network.nameservers", "1.12", "ResolverConfig"),
        ("machine.network.searchDomains", "1.12", "ResolverConfig"),
        ("machine.network.disableSearchDomain", "1.12", "ResolverConfig"),
        ("machine.network.extraHostEntries", "1.12", "StaticHostConfig"),
        ("machine.time", "1.12", "TimeSyncConfig"),
        ("machine.registries", "1.12", "RegistryMirror-, RegistryAuth- and RegistryTLSConfig"),
        ("machine.systemDiskEncryption", "1.12", "VolumeConfig"),
        ("machine.features.rbac", "1.12", "nothing; it is always on"),
        ("machine.features.stableHostname", "1.12", "HostnameConfig"),
        ("machine.features.apidCheckExtKeyUsage", "1.12", "nothing; it is always on"),
        ("cluster.apiServer.disablePodSecurityPolicy", "1.12", "nothing; there are none"),
        ("machine.network.kubespan", "1.13", "KubeSpanConfig"),
        ("machine.env", "1.13", "EnvironmentConfig"),
        ("machine.network", "1.13", "documents of the network"),
        ("machine.install", "1.14", "UnattendedInstallConfig"),
        ("machine.sysctls", "1.14", "SysctlConfig"),
        ("machine.sysfs", "1.14", "SysfsConfig"),
        ("machine.udev", "1.14", "UdevRulesConfig"),
        ("machine.kernel", "1.14", "KernelModuleConfig"),
        ("machine.files", "1.14", "CRICustomizationConfig"),
        ("machine.baseRuntimeSpecOverrides", "1.14", "CRIBaseRuntimeSpecConfig"),
        ("machine.pods", "1.14", "KubeStaticPodConfig"),
        ("machine.kubelet", "1.14", "KubeletConfig and KubeNodeConfig"),
        ("machine.nodeLabels", "1.14", "KubeNodeConfig"),
        ("machine.nodeAnnotations", "1.14", "KubeNodeConfig"),
        ("machine.nodeTaints", "1.14", "KubeNodeConfig"),
        ("machine.controlPlane", "1.14", "KubeControllerManagerConfig and KubeSchedulerConfig"),
        ("machine.features.hostDNS", "1.14", "ResolverConfig"),
        ("machine.features.kubePrism", "1.14", "KubePrismConfig"),
        ("machine.features.imageCache", "1.14", "ImageCacheConfig"),
        ("machine.features.kubernetesTalosAPIAccess", "1.14", "KubeTalosAPIAccessConfig"),
        ("cluster.id", "1.14", "DiscoveryIdentityConfig"),
        ("cluster.secret", "1.14", "DiscoveryIdentityConfig"),
        ("cluster.discovery", "1.14", "DiscoveryServiceConfig"),
        ("cluster.clusterName", "1.14", "KubeClusterConfig"),
        ("cluster.controlPlane", "1.14", "KubeClusterConfig and KubeAPIServerConfig"),
        ("cluster.network", "1.14", "KubeNetworkConfig and KubeFlannelCNIConfig"),
        ("cluster.ca", "1.14", "KubeAPIServerCAConfig"),
        ("cluster.acceptedCAs", "1.14", "KubeAPIServerCAConfig"),
        ("cluster.aggregatorCA", "1.14", "KubeAggregatorCAConfig"),
        ("cluster.serviceAccount", "1.14", "KubeServiceAccountConfig"),
        ("cluster.secretboxEncryptionSecret", "1.14", "KubeEtcdEncryptionConfig"),
        ("cluster.aescbcEncryptionSecret", "1.14", "KubeEtcdEncryptionConfig"),
        ("cluster.apiServer", "1.14", "KubeAPIServerConfig and its kin"),
        ("cluster.controllerManager", "1.14", "KubeControllerManagerConfig"),
        ("cluster.scheduler", "1.14", "KubeSchedulerConfig"),
        ("cluster.proxy", "1.14", "KubeProxyConfig"),
        ("cluster.coreDNS", "1.14", "KubeCoreDNSConfig"),
        ("cluster.extraManifests", "1.14", "KubeExternalManifestConfig"),
        ("cluster.extraManifestHeaders", "1.14", "KubeExternalManifestConfig"),
        ("cluster.inlineManifests", "1.14", "KubeInlineManifestConfig"),
        ("cluster.allowSchedulingOnControlPlanes", "1.14", "KubeNodeConfig"),
        ("cluster.allowSchedulingOnMasters", "1.14", "KubeNodeConfig"),
    )
)


def moved(path: str, target: str) -> Moved | None:
    """The entry that a path is below, if the target has moved it; the most precise one."""
    from stockman.talos.migration.contracts import CONTRACTS

    last = CONTRACTS.index(target)
    found = [
        one
        for one in MOVED
        if f"{path}.".startswith(f"{one.path}.") and CONTRACTS.index(one.since) <= last
    ]
    return max(found, key=lambda one: len(one.path), default=None)
