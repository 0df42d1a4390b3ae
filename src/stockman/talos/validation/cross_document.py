"""Documents and the fields of the oldest one that they replace: both together are refused."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.talos.documents import CONTROLLER_KINDS
from stockman.talos.patches.documents import ConfigDocument
from stockman.talos.validation.container_documents import check_dependencies
from stockman.talos.validation.formats import is_zoned_address, parse_request_url
from stockman.talos.validation.machine_section import is_control_plane, machine_type
from stockman.talos.validation.network_documents import is_encrypted
from stockman.talos.validation.report import ConfigValue, ValidationReport, root_value

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
_NOT_EMPTY = {
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


def check_conflicts(
    report: ValidationReport, oldest: ConfigValue, documents: list[ConfigDocument]
) -> None:
    for document in documents:
        for field in _find_conflicts(report, oldest, document):
            report.error(
                "machine.conflict",
                field,
                f"{field.name} and {document.label} say the same",
                why="Talos takes it from one of the two, and refuses both",
                fix=f"remove {field.name}, or the document",
            )


def _find_conflicts(
    report: ValidationReport, oldest: ConfigValue, document: ConfigDocument
) -> Iterator[ConfigValue]:
    kind, part = document.kind.name, root_value(document)
    for path in _PRESENT.get(kind, ()):
        if oldest.down(path).present:
            yield oldest.down(path)
    for path in _NOT_EMPTY.get(kind, ()):
        if not oldest.down(path).is_empty:
            yield oldest.down(path)
    for path in _TRUE.get(kind, ()):
        if oldest.down(path).flag:
            yield oldest.down(path)
    if kind == "ResolverConfig":
        yield from _resolver_conflicts(report, oldest, part)
    elif kind == "TimeSyncConfig":
        timeout = oldest.down("machine.time.bootTimeout")
        if timeout.text not in ("", "0s"):
            yield timeout
    elif kind == "VolumeConfig":
        yield from _encryption_conflicts(oldest, part)
    elif kind == "KubeAPIServerConfig":
        port = oldest.down("cluster.controlPlane.localAPIServerPort")
        if port.number:
            yield port


def _resolver_conflicts(
    report: ValidationReport, oldest: ConfigValue, document: ConfigValue
) -> Iterator[ConfigValue]:
    servers = oldest.down("machine.network.nameservers")
    if any(is_zoned_address(server) for server in servers.texts):
        yield servers
    dns = oldest.down("machine.features.hostDNS")
    if report.minor >= 14 and not document["hostDNS"].is_empty and dns.present:
        yield dns


def _encryption_conflicts(oldest: ConfigValue, document: ConfigValue) -> Iterator[ConfigValue]:
    spec = document["encryption"]
    if spec["provider"].text in ("", "none") and spec["keys"].is_empty:
        return
    label = {"STATE": "state", "EPHEMERAL": "ephemeral"}.get(document["name"].text)
    older = oldest.down(f"machine.systemDiskEncryption.{label}")
    if label and older.present:
        yield older


_CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane"


class DocumentSet:
    """All documents by their kind, the oldest one apart."""

    def __init__(
        self,
        oldest: ConfigValue | None,
        documents: dict[str, list[ConfigValue]],
        empty: ConfigValue,
    ) -> None:
        self.has_oldest = oldest is not None
        self.oldest = empty if oldest is None else oldest
        self._documents = documents

    def all(self, kind: str) -> list[ConfigValue]:
        return self._documents.get(kind, [])

    def first(self, kind: str) -> ConfigValue | None:
        return next(iter(self.all(kind)), None)

    @property
    def kinds(self) -> list[str]:
        return list(self._documents)

    @property
    def controls(self) -> bool:
        """Whether the machine is a control plane."""
        return self.has_oldest and is_control_plane(machine_type(self.oldest["machine"]))

    @property
    def discovers(self) -> bool:
        """Whether members of the cluster find each other through a service."""
        discovery = self.oldest.down("cluster.discovery")
        service = discovery.down("registries.service")
        told = discovery["enabled"].flag and not service["disabled"].flag
        if told and (not service["endpoint"].text or parse_request_url(service["endpoint"].text)):
            return True
        return bool(self.all("DiscoveryServiceConfig"))

    @property
    def authority(self) -> ConfigValue | None:
        """Who the Kubernetes API trusts. None: Kubernetes is not configured."""
        document = self.first("KubeAPIServerCAConfig")
        if document is not None:
            return document
        cluster = self.oldest["cluster"]
        return next((cluster[key] for key in ("ca", "acceptedCAs") if cluster[key].present), None)


def check_document_set(report: ValidationReport, whole: DocumentSet) -> None:
    if report.minor < 14:
        return
    _check_resolvers(report, whole)
    _check_discovery_identity(report, whole)
    check_dependencies(report, whole.all("ContainerConfig"))
    _check_kubespan(report, whole)
    _check_kubernetes(report, whole)
    _check_control_plane_label(report, whole)
    for kind in whole.kinds:
        if kind in CONTROLLER_KINDS and not whole.controls:
            for document in whole.all(kind):
                report.error(
                    "machine.control-plane-only",
                    document,
                    f"{document.label} is for control planes only",
                    why="this machine is none",
                    fix="remove the document",
                )


def _check_resolvers(report: ValidationReport, whole: DocumentSet) -> None:
    document = whole.first("ResolverConfig")
    if document is None or document.down("hostDNS.enabled").flag:
        return
    if whole.oldest.down("machine.features.hostDNS.enabled").flag:
        return
    for server in document["nameservers"].items:
        if is_encrypted(server):
            report.error(
                "machine.dns",
                server["protocol"],
                f"{server.name} is asked through TLS by nobody",
                why="only the machine's own resolver speaks TLS, and it is off",
                fix="write `hostDNS: {enabled: true}` into ResolverConfig",
            )


def _check_discovery_identity(report: ValidationReport, whole: DocumentSet) -> None:
    if not whole.discovers:
        return
    cluster, document = whole.oldest["cluster"], whole.first("DiscoveryIdentityConfig")
    older = bool(cluster["id"].text or cluster["secret"].text)
    for old, new in (("id", "clusterID"), ("secret", "clusterSecret")):
        told = cluster[old] if older or document is None else document[new]
        if not told.text:
            report.error(
                "machine.discovery",
                told,
                f"the {old} of the cluster is missing, and discovery is on",
                why="the discovery service knows clusters by their id, and members by the secret",
                fix=f"write DiscoveryIdentityConfig with `cluster.{old}` of the secrets bundle",
            )


def _check_kubespan(report: ValidationReport, whole: DocumentSet) -> None:
    document = whole.first("KubeSpanConfig")
    span = whole.oldest.down("machine.network.kubespan") if document is None else document
    if span["enabled"].flag and not whole.discovers:
        report.error(
            "machine.discovery",
            span["enabled"],
            "KubeSpan is on, and discovery is off",
            why="peers of KubeSpan find each other by discovery",
            fix="write a DiscoveryServiceConfig",
        )


def _check_kubernetes(report: ValidationReport, whole: DocumentSet) -> None:
    authority, cluster = whole.authority, whole.oldest["cluster"]
    if authority is None:
        return
    secrets = ("secretboxEncryptionSecret", "aescbcEncryptionSecret")
    encrypted = any(cluster[key].text for key in secrets)
    if whole.controls and not encrypted and whole.first("KubeEtcdEncryptionConfig") is None:
        report.error(
            "machine.etcd-encryption",
            authority,
            "secrets of Kubernetes are not encrypted in etcd",
            why="the machine runs the Kubernetes API, and has no key for it",
            fix="write KubeEtcdEncryptionConfig with `secretboxencryptionsecret` of the bundle",
        )
    if (
        whole.first("KubeClusterConfig") is None
        and not cluster.down("controlPlane.endpoint").present
    ):
        report.error(
            "machine.endpoint",
            authority,
            "the machine would not find the Kubernetes API",
            why="an authority of Kubernetes is there, and an endpoint is not",
            fix="write KubeClusterConfig with clusterName and endpoint",
        )


def _check_control_plane_label(report: ValidationReport, whole: DocumentSet) -> None:
    node = whole.first("KubeNodeConfig")
    if node is None or not whole.controls or node["skipNodeRegistration"].flag:
        return
    if _CONTROL_PLANE_LABEL not in node["labels"].entries:
        report.warn(
            "machine.doubtful",
            node["labels"],
            "KubeNodeConfig of a control plane does not label it as one",
            why=f"{_CONTROL_PLANE_LABEL} is no longer added by Talos itself",
            fix=f'write `{_CONTROL_PLANE_LABEL}: ""`, and the taint of the same name',
        )
