"""Rules across documents: conflicts with the v1alpha1 document, and combinations since 1.14."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.talos.documents import CONTROLLER_KINDS
from stockman.talos.validation.formats import is_zoned_address, parse_request_url
from stockman.talos.validation.machine_section import is_control_plane, machine_type
from stockman.talos.validation.network_documents import is_encrypted
from stockman.talos.validation.report import ConfigValue
from stockman.talos.validation.system_documents import check_dependencies

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
"""Fields that must be absent."""
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
"""Fields that must be absent or empty."""
_TRUE = {
    "HostnameConfig": ("machine.features.stableHostname",),
    "TimeSyncConfig": ("machine.time.disabled",),
    "ResolverConfig": ("machine.network.disableSearchDomain",),
}
"""Fields that must not be true."""


def check_conflicts(v1alpha1: ConfigValue, documents: list[ConfigValue]) -> None:
    for document in documents:
        for field in _find_conflicts(v1alpha1, document):
            field.error(
                "machine.conflict",
                f"{field.name} and {document.label} set the same thing",
                why="Talos accepts only one of the two",
                fix=f"remove {field.name}, or the document",
            )


def _find_conflicts(v1alpha1: ConfigValue, document: ConfigValue) -> Iterator[ConfigValue]:
    kind = document.kind
    for path in _PRESENT.get(kind, ()):
        if v1alpha1.down(path).present:
            yield v1alpha1.down(path)
    for path in _NOT_EMPTY.get(kind, ()):
        if not v1alpha1.down(path).is_empty:
            yield v1alpha1.down(path)
    for path in _TRUE.get(kind, ()):
        if v1alpha1.down(path).flag:
            yield v1alpha1.down(path)
    if kind == "ResolverConfig":
        yield from _resolver_conflicts(v1alpha1, document)
    elif kind == "TimeSyncConfig":
        timeout = v1alpha1.down("machine.time.bootTimeout")
        if timeout.text not in ("", "0s"):
            yield timeout
    elif kind == "VolumeConfig":
        yield from _encryption_conflicts(v1alpha1, document)
    elif kind == "KubeAPIServerConfig":
        port = v1alpha1.down("cluster.controlPlane.localAPIServerPort")
        if port.number:
            yield port


def _resolver_conflicts(v1alpha1: ConfigValue, document: ConfigValue) -> Iterator[ConfigValue]:
    servers = v1alpha1.down("machine.network.nameservers")
    if any(is_zoned_address(server) for server in servers.texts):
        yield servers
    dns = v1alpha1.down("machine.features.hostDNS")
    if v1alpha1.minor >= 14 and not document["hostDNS"].is_empty and dns.present:
        yield dns


def _encryption_conflicts(v1alpha1: ConfigValue, document: ConfigValue) -> Iterator[ConfigValue]:
    spec = document["encryption"]
    if spec["provider"].text in ("", "none") and spec["keys"].is_empty:
        return
    label = {"STATE": "state", "EPHEMERAL": "ephemeral"}.get(document["name"].text)
    older = v1alpha1.down(f"machine.systemDiskEncryption.{label}")
    if label and older.present:
        yield older


_CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane"


class DocumentSet:
    """All documents by kind, with the v1alpha1 document separate."""

    def __init__(
        self, v1alpha1: ConfigValue | None, documents: list[ConfigValue], absent: ConfigValue
    ) -> None:
        self.has_v1alpha1 = v1alpha1 is not None
        self.v1alpha1 = absent if v1alpha1 is None else v1alpha1
        self.additional = documents

    def all(self, kind: str) -> list[ConfigValue]:
        return [document for document in self.additional if document.kind == kind]

    def first(self, kind: str) -> ConfigValue | None:
        return next(iter(self.all(kind)), None)

    @property
    def controls(self) -> bool:
        """Whether the machine is a control plane."""
        return self.has_v1alpha1 and is_control_plane(machine_type(self.v1alpha1["machine"]))

    @property
    def discovers(self) -> bool:
        """Whether cluster members find each other through a discovery service."""
        discovery = self.v1alpha1.down("cluster.discovery")
        service = discovery.down("registries.service")
        enabled = discovery["enabled"].flag and not service["disabled"].flag
        if enabled and (
            not service["endpoint"].text or parse_request_url(service["endpoint"].text)
        ):
            return True
        return bool(self.all("DiscoveryServiceConfig"))

    @property
    def authority(self) -> ConfigValue | None:
        """The CA of the Kubernetes API. None: Kubernetes is not configured."""
        document = self.first("KubeAPIServerCAConfig")
        if document is not None:
            return document
        cluster = self.v1alpha1["cluster"]
        return next((cluster[key] for key in ("ca", "acceptedCAs") if cluster[key].present), None)


def check_document_set(documents: DocumentSet) -> None:
    """Check combinations of documents, since 1.14."""
    _check_resolvers(documents)
    _check_discovery_identity(documents)
    check_dependencies(documents.all("ContainerConfig"))
    _check_kubespan(documents)
    _check_kubernetes(documents)
    _check_control_plane_label(documents)
    for document in documents.additional:
        if document.kind in CONTROLLER_KINDS and not documents.controls:
            document.error(
                "machine.control-plane-only",
                f"{document.label} is for control planes only",
                why="this machine is a worker",
                fix="remove the document",
            )


def _check_resolvers(documents: DocumentSet) -> None:
    document = documents.first("ResolverConfig")
    if document is None or document.down("hostDNS.enabled").flag:
        return
    if documents.v1alpha1.down("machine.features.hostDNS.enabled").flag:
        return
    for server in document["nameservers"].items:
        if is_encrypted(server):
            server["protocol"].error(
                "machine.dns",
                f"{server.name} uses TLS, but host DNS is disabled",
                why="only host DNS, the machine's own resolver, supports TLS",
                fix="set `hostDNS: {enabled: true}` in ResolverConfig",
            )


def _check_discovery_identity(documents: DocumentSet) -> None:
    if not documents.discovers:
        return
    cluster, document = documents.v1alpha1["cluster"], documents.first("DiscoveryIdentityConfig")
    older = bool(cluster["id"].text or cluster["secret"].text)
    for old, new in (("id", "clusterID"), ("secret", "clusterSecret")):
        field = cluster[old] if older or document is None else document[new]
        if not field.text:
            field.error(
                "machine.discovery",
                f"the {old} of the cluster is missing, but discovery is enabled",
                why="the discovery service identifies clusters by ID, and members by the secret",
                fix=f"add DiscoveryIdentityConfig with `cluster.{old}` of the secrets bundle",
            )


def _check_kubespan(documents: DocumentSet) -> None:
    document = documents.first("KubeSpanConfig")
    span = documents.v1alpha1.down("machine.network.kubespan") if document is None else document
    if span["enabled"].flag and not documents.discovers:
        span["enabled"].error(
            "machine.discovery",
            "KubeSpan is enabled, but discovery is disabled",
            why="KubeSpan peers find each other by discovery",
            fix="add a DiscoveryServiceConfig",
        )


def _check_kubernetes(documents: DocumentSet) -> None:
    authority, cluster = documents.authority, documents.v1alpha1["cluster"]
    if authority is None:
        return
    secrets = ("secretboxEncryptionSecret", "aescbcEncryptionSecret")
    encrypted = any(cluster[key].text for key in secrets)
    if documents.controls and not encrypted and documents.first("KubeEtcdEncryptionConfig") is None:
        authority.error(
            "machine.etcd-encryption",
            "Kubernetes secrets are not encrypted in etcd",
            why="the machine runs the Kubernetes API without an encryption key",
            fix="add KubeEtcdEncryptionConfig with `secretboxencryptionsecret` of the bundle",
        )
    if (
        documents.first("KubeClusterConfig") is None
        and not cluster.down("controlPlane.endpoint").present
    ):
        authority.error(
            "machine.endpoint",
            "the endpoint of the Kubernetes API is missing",
            why="the machine has a Kubernetes CA but no endpoint",
            fix="add KubeClusterConfig with clusterName and endpoint",
        )


def _check_control_plane_label(documents: DocumentSet) -> None:
    node = documents.first("KubeNodeConfig")
    if node is None or not documents.controls or node["skipNodeRegistration"].flag:
        return
    if _CONTROL_PLANE_LABEL not in node["labels"].entries:
        node["labels"].warn(
            "machine.doubtful",
            "KubeNodeConfig of a control plane has no control plane label",
            why=f"Talos no longer adds {_CONTROL_PLANE_LABEL} itself",
            fix=f'add `{_CONTROL_PLANE_LABEL}: ""`, and the taint of the same name',
        )
