"""Rules between documents, since 1.14."""

from __future__ import annotations

from stockman.talos.controller_documents import CONTROLLERS_ONLY
from stockman.talos.validation.container_documents import check_dependencies
from stockman.talos.validation.machine_section import is_control_plane, machine_type
from stockman.talos.validation.network_documents import is_encrypted
from stockman.talos.validation.part import Part
from stockman.talos.validation.places import requested
from stockman.talos.validation.report import Report

_CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane"


class Whole:
    """All documents by their kind, the oldest one apart."""

    def __init__(self, oldest: Part | None, documents: dict[str, list[Part]], empty: Part) -> None:
        self.has_oldest = oldest is not None
        self.oldest = empty if oldest is None else oldest
        self._documents = documents

    def all(self, kind: str) -> list[Part]:
        return self._documents.get(kind, [])

    def first(self, kind: str) -> Part | None:
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
        if told and (not service["endpoint"].text or requested(service["endpoint"].text)):
            return True
        return bool(self.all("DiscoveryServiceConfig"))

    @property
    def authority(self) -> Part | None:
        """Who the Kubernetes API trusts. None: Kubernetes is not configured."""
        document = self.first("KubeAPIServerCAConfig")
        if document is not None:
            return document
        cluster = self.oldest["cluster"]
        return next((cluster[key] for key in ("ca", "acceptedCAs") if cluster[key].present), None)


def check_whole(report: Report, whole: Whole) -> None:
    if report.minor < 14:
        return
    _check_resolvers(report, whole)
    _check_identity(report, whole)
    check_dependencies(report, whole.all("ContainerConfig"))
    _check_kubespan(report, whole)
    _check_kubernetes(report, whole)
    _check_label(report, whole)
    for kind in whole.kinds:
        if kind in CONTROLLERS_ONLY and not whole.controls:
            for document in whole.all(kind):
                report.error(
                    "machine.control-plane-only",
                    document,
                    f"{document.label} is for control planes only",
                    why="this machine is none",
                    fix="remove the document",
                )


def _check_resolvers(report: Report, whole: Whole) -> None:
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


def _check_identity(report: Report, whole: Whole) -> None:
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


def _check_kubespan(report: Report, whole: Whole) -> None:
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


def _check_kubernetes(report: Report, whole: Whole) -> None:
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


def _check_label(report: Report, whole: Whole) -> None:
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
