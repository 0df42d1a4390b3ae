"""All rules of `talosctl validate`, for documents that were loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from stockman.model.problem import Problems
from stockman.talos.patches.documents import V1ALPHA1, ConfigDocument
from stockman.talos.patches.tree import UNWRITTEN
from stockman.talos.validation import (
    container_documents,
    kubernetes_documents,
    link_documents,
    network_documents,
    registry_documents,
    runtime_documents,
    shared_rules,
    storage_documents,
)
from stockman.talos.validation.cross_document import (
    DocumentSet,
    check_conflicts,
    check_document_set,
)
from stockman.talos.validation.report import ConfigValue, RuntimeMode, ValidationReport, root_value
from stockman.talos.validation.v1alpha1 import check_v1alpha1

Rule = Callable[[ValidationReport, ConfigValue], None]

RULES: dict[str, Rule] = {
    "BGPInstanceConfig": link_documents.check_bgp,
    "BlackholeRouteConfig": network_documents.check_blackhole,
    "BondConfig": link_documents.check_bond_document,
    "BridgeConfig": link_documents.check_link,
    "CRIBaseRuntimeSpecConfig": registry_documents.check_runtime_document,
    "CRICustomizationConfig": registry_documents.check_customization,
    "ContainerConfig": container_documents.check_container,
    "DHCPv4Config": network_documents.check_dhcp,
    "DHCPv6Config": network_documents.check_dhcp,
    "DiscoveryIdentityConfig": kubernetes_documents.check_discovery_identity,
    "DiscoveryServiceConfig": kubernetes_documents.check_discovery_service,
    "DummyLinkConfig": link_documents.check_link,
    "EnvironmentConfig": runtime_documents.check_environment,
    "EtcFileConfig": runtime_documents.check_etc_file,
    "EthernetConfig": link_documents.check_name,
    "EventSinkConfig": runtime_documents.check_event_sink,
    "ExistingVolumeConfig": storage_documents.check_existing_volume,
    "ExtensionServiceConfig": runtime_documents.check_extension_service,
    "ExternalVolumeConfig": storage_documents.check_external_volume,
    "FilesystemScrubConfig": storage_documents.check_scrub_document,
    "FilesystemTrimConfig": storage_documents.check_trim_document,
    "HCloudVIPConfig": network_documents.check_hcloud_address,
    "HTTPProbeConfig": network_documents.check_http_probe,
    "HostnameConfig": network_documents.check_hostname,
    "ImageVerificationConfig": registry_documents.check_image_rules,
    "KernelModuleConfig": link_documents.check_name,
    "KmsgLogConfig": runtime_documents.check_kmsg_log,
    "KubeAPIServerCAConfig": kubernetes_documents.check_api_server_ca,
    "KubeAPIServerConfig": kubernetes_documents.check_api_server,
    "KubeAdmissionControlConfig": link_documents.check_name,
    "KubeAggregatorCAConfig": kubernetes_documents.check_aggregator_ca,
    "KubeAuthorizerConfig": kubernetes_documents.check_authorizer,
    "KubeClusterConfig": kubernetes_documents.check_cluster_document,
    "KubeControllerManagerConfig": kubernetes_documents.check_component,
    "KubeEtcdEncryptionConfig": kubernetes_documents.check_etcd_encryption,
    "KubeExternalManifestConfig": kubernetes_documents.check_external_manifest,
    "KubeFlannelCNIConfig": kubernetes_documents.check_flannel,
    "KubeInlineManifestConfig": kubernetes_documents.check_manifest_name,
    "KubeNetworkConfig": kubernetes_documents.check_kube_network,
    "KubeNodeConfig": kubernetes_documents.check_node,
    "KubePrismConfig": kubernetes_documents.check_kubeprism,
    "KubeProxyConfig": kubernetes_documents.check_proxy,
    "KubeSchedulerConfig": kubernetes_documents.check_component,
    "KubeServiceAccountConfig": kubernetes_documents.check_service_account,
    "KubeSpanConfig": shared_rules.check_kubespan_document,
    "KubeStaticPodConfig": kubernetes_documents.check_static_pod,
    "KubeTalosAPIAccessConfig": kubernetes_documents.check_talos_api_access,
    "KubeletConfig": kubernetes_documents.check_kubelet_document,
    "LVMLogicalVolumeConfig": storage_documents.check_logical_volume,
    "LVMVolumeGroupConfig": storage_documents.check_volume_group,
    "Layer2VIPConfig": network_documents.check_shared_address,
    "LinkAliasConfig": link_documents.check_link_alias,
    "LinkConfig": link_documents.check_link,
    "NetworkRuleConfig": network_documents.check_firewall_rule,
    "OOMConfig": runtime_documents.check_oom,
    "RAIDArrayConfig": storage_documents.check_volume_group,
    "RawVolumeConfig": storage_documents.check_raw_volume,
    "RegistryAuthConfig": registry_documents.check_auth,
    "RegistryMirrorConfig": registry_documents.check_mirror,
    "RegistryTLSConfig": registry_documents.check_tls,
    "ResolverConfig": network_documents.check_resolver,
    "RoutingRuleConfig": network_documents.check_routing_rule,
    "SideroLinkConfig": runtime_documents.check_siderolink,
    "StaticHostConfig": network_documents.check_static_host,
    "SwapVolumeConfig": storage_documents.check_raw_volume,
    "SysctlConfig": runtime_documents.check_parameters,
    "SysfsConfig": runtime_documents.check_parameters,
    "TCPProbeConfig": network_documents.check_tcp_probe,
    "TimeSyncConfig": network_documents.check_time,
    "UnattendedInstallConfig": runtime_documents.check_unattended_install,
    "UserVolumeConfig": storage_documents.check_user_volume,
    "VLANConfig": link_documents.check_vlan,
    "VRFConfig": link_documents.check_vrf,
    "VethConfig": link_documents.check_veth,
    "VolumeConfig": storage_documents.check_system_volume,
    "WatchdogTimerConfig": runtime_documents.check_watchdog,
    "WireguardConfig": link_documents.check_wireguard,
    "ZswapConfig": storage_documents.check_zswap,
}
"""Rules by kind of document; other kinds have no rules beyond their schema."""


def validate(
    documents: Iterable[ConfigDocument], minor: str, mode: RuntimeMode, *, strict: bool = False
) -> Problems:
    """Return all errors and warnings that Talos of a minor reports for a configuration.

    `strict` turns warnings about the v1alpha1 document into errors, as in Talos.
    """
    report = ValidationReport(minor, mode, strict=strict)
    v1alpha1: ConfigValue | None = None
    additional: list[ConfigDocument] = []
    roots: dict[str, list[ConfigValue]] = {}
    for document in documents:
        root = root_value(document)
        if document.kind.name == V1ALPHA1:
            v1alpha1 = root
            check_v1alpha1(report, root)
            continue
        additional.append(document)
        roots.setdefault(document.kind.name, []).append(root)
        rule = RULES.get(document.kind.name)
        if rule is not None:
            rule(report, root)
    if v1alpha1 is not None:
        check_conflicts(report, v1alpha1, additional)
    check_document_set(report, DocumentSet(v1alpha1, roots, ConfigValue(None, "", "", UNWRITTEN)))
    return report.problems
