"""Documents and the fields of the oldest one that they replace: both together are refused."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.talos.patches.documents import Document
from stockman.talos.validation.part import Part, root
from stockman.talos.validation.places import is_zoned_address
from stockman.talos.validation.report import Report

_PRESENT = {
    "KubeSpanConfig": ("machine.network.kubespan",),
    "UnattendedInstallConfig": ("machine.install",),
    "KubeCoreDNSConfig": ("cluster.coreDNS",),
    "KubeletConfig": ("machine.kubelet",),
    "KubeCredentialProviderConfig": ("machine.kubelet",),
    "KubeAggregatorCAConfig": ("cluster.aggregatorCA",),
    "KubeFlannelCNIConfig": ("cluster.network",),
    "KubeNetworkConfig": ("cluster.network",),
    "KubeClusterConfig": ("cluster.controlPlane.endpoint",),
    "KubePrismConfig": ("machine.features.kubePrism",),
    "KubeControllerManagerConfig": (
        "cluster.controllerManager",
        "machine.controlPlane.controllerManager",
    ),
    "KubeSchedulerConfig": ("cluster.scheduler", "machine.controlPlane.scheduler"),
    "KubeAPIServerCAConfig": ("cluster.ca",),
    "KubeServiceAccountConfig": ("cluster.serviceAccount",),
    "KubeAPIServerConfig": ("cluster.apiServer",),
    "KubeTalosAPIAccessConfig": ("machine.features.kubernetesTalosAPIAccess",),
    "KubeNodeConfig": (
        "cluster.allowSchedulingOnControlPlanes",
        "cluster.allowSchedulingOnMasters",
        "machine.kubelet.skipNodeRegistration",
        "machine.kubelet.registerWithFQDN",
        "machine.kubelet.nodeIP",
        "machine.nodeLabels",
        "machine.nodeAnnotations",
        "machine.nodeTaints",
    ),
    "KubeProxyConfig": ("cluster.proxy",),
    "CRIBaseRuntimeSpecConfig": ("machine.baseRuntimeSpecOverrides",),
    "ImageCacheConfig": ("machine.features.imageCache",),
    "DiscoveryServiceConfig": ("cluster.discovery",),
    "ResolverConfig": ("machine.network.searchDomains",),
}
"""Fields that may not be there at all."""
_FILLED = {
    "HostnameConfig": ("machine.network.hostname",),
    "TimeSyncConfig": ("machine.time.servers",),
    "KubeAuditPolicyConfig": ("cluster.apiServer.auditPolicy",),
    "KubeAdmissionControlConfig": ("cluster.apiServer.admissionControl",),
    "KubeAuthorizerConfig": ("cluster.apiServer.admissionControl",),
    "KubeEtcdEncryptionConfig": (
        "cluster.secretboxEncryptionSecret",
        "cluster.aescbcEncryptionSecret",
    ),
    "KubeClusterConfig": ("cluster.clusterName",),
    "DiscoveryIdentityConfig": ("cluster.id", "cluster.secret"),
}
"""Fields that may be there if they are empty."""
_TRUE = {
    "HostnameConfig": ("machine.features.stableHostname",),
    "TimeSyncConfig": ("machine.time.disabled",),
    "ResolverConfig": ("machine.network.disableSearchDomain",),
}
"""Fields that may be there unless they are true."""


def check_conflicts(report: Report, oldest: Part, documents: list[Document]) -> None:
    for document in documents:
        for field in _conflicting(report, oldest, document):
            report.error(
                "machine.conflict",
                field,
                f"{field.name} and {document.label} say the same",
                why="Talos takes it from one of the two, and refuses both",
                fix=f"remove {field.name}, or the document",
            )


def _conflicting(report: Report, oldest: Part, document: Document) -> Iterator[Part]:
    kind, part = document.kind.name, root(document)
    for path in _PRESENT.get(kind, ()):
        if oldest.down(path).present:
            yield oldest.down(path)
    for path in _FILLED.get(kind, ()):
        if not oldest.down(path).is_empty:
            yield oldest.down(path)
    for path in _TRUE.get(kind, ()):
        if oldest.down(path).flag:
            yield oldest.down(path)
    if kind == "ResolverConfig":
        yield from _resolver(report, oldest, part)
    elif kind == "TimeSyncConfig":
        timeout = oldest.down("machine.time.bootTimeout")
        if timeout.text not in ("", "0s"):
            yield timeout
    elif kind == "VolumeConfig":
        yield from _encryption(oldest, part)
    elif kind == "KubeAPIServerConfig":
        port = oldest.down("cluster.controlPlane.localAPIServerPort")
        if port.number:
            yield port


def _resolver(report: Report, oldest: Part, document: Part) -> Iterator[Part]:
    servers = oldest.down("machine.network.nameservers")
    if any(is_zoned_address(server) for server in servers.texts):
        yield servers
    dns = oldest.down("machine.features.hostDNS")
    if report.minor >= 14 and not document["hostDNS"].is_empty and dns.present:
        yield dns


def _encryption(oldest: Part, document: Part) -> Iterator[Part]:
    spec = document["encryption"]
    if spec["provider"].text in ("", "none") and spec["keys"].is_empty:
        return
    label = {"STATE": "state", "EPHEMERAL": "ephemeral"}.get(document["name"].text)
    older = oldest.down(f"machine.systemDiskEncryption.{label}")
    if label and older.present:
        yield older
