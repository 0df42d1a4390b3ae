"""Inputs for the configuration of one machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address
from types import MappingProxyType
from typing import NamedTuple

from stockman.crypto.pem import CertificateAndKey, NotPem
from stockman.model.desired import Cluster, Desired, Node
from stockman.model.errors import Refused
from stockman.model.machine import MachineSettings
from stockman.model.origin import Origin
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.documents import Document, encode_base64
from stockman.talos.schematic import FactoryImage
from stockman.talos.secrets.bundle import SecretsBundle

NO_FILES: Mapping[str, str] = MappingProxyType({})
_DNS_INDEX = 10


class MachineInputs(NamedTuple):
    """A node and everything that its configuration depends on."""

    desired: Desired
    cluster: Cluster
    node: Node
    bundle: SecretsBundle
    image: FactoryImage
    files: Mapping[str, str] = NO_FILES
    """Texts of the repository's files that the configuration includes, by name."""

    @property
    def settings(self) -> MachineSettings:
        return self.node.settings

    @property
    def contract(self) -> Version:
        """The contract of the configuration; not the running version."""
        return self.cluster.talos.contract

    def contract_at_least(self, major: int, minor: int) -> bool:
        """Whether the contract is this line or a newer one."""
        return self.contract.line >= (major, minor)

    @property
    def is_controller(self) -> bool:
        return self.node.is_controller

    @property
    def endpoint(self) -> str:
        """URL of the Kubernetes API for machines."""
        return self.cluster.kubernetes.api_endpoint

    @property
    def kubernetes(self) -> str:
        """The Kubernetes version in the form of image tags."""
        return self.cluster.kubernetes.version.tagged

    def enabled(self, *components: str) -> bool:
        """Whether one of these components is enabled."""
        known = self.desired.components
        return any(name in known and known[name].enabled is True for name in components)

    def _disabled(self, component: str) -> bool:
        known = self.desired.components
        return component in known and known[component].enabled is False

    @property
    def has_core_dns(self) -> bool:
        """Whether Talos installs CoreDNS: only if no component does."""
        return self._disabled("coredns")

    @property
    def has_kube_proxy(self) -> bool:
        """Whether Talos installs kube-proxy: only if Cilium does not replace it."""
        if self._disabled("cilium"):
            return True
        cilium = self.desired.components.get("cilium")
        return cilium is not None and cilium.values.get("kubeProxyReplacement") is False

    @property
    def cluster_dns(self) -> tuple[IPv4Address, ...]:
        """DNS servers of pods; none if Talos finds them itself."""
        written = self.settings.kubelet.cluster_dns
        kubernetes = self.cluster.kubernetes
        if written or kubernetes.coredns_addr == kubernetes.svc_cidr[_DNS_INDEX]:
            return written
        return (kubernetes.coredns_addr,)

    @property
    def node_ip_subnets(self) -> list[str]:
        """Networks from which the node's Kubernetes address is chosen."""
        written = self.settings.kubelet.node_ip_subnets
        return list(written) or [str(self.cluster.network.node_cidr)]

    @property
    def kubelet_arguments(self) -> dict[str, str]:
        """Arguments of the kubelet; user settings take precedence."""
        needed: dict[str, str] = {}
        if self.enabled("talos-ccm"):
            needed = {"rotate-server-certificates": "true"}
        return needed | self.settings.kubelet.extra_args


def new_document(kind: str, **fields: object) -> Document:
    """Return a document other than v1alpha1."""
    return {"apiVersion": "v1alpha1", "kind": kind, **fields}


def encode_pair(pair: CertificateAndKey, *, with_key: bool) -> Document:
    """Return a certificate and, for controllers, its key in the form of the v1alpha1 document."""
    key: object = Secret(encode_base64(pair.key.reveal())) if with_key else ""
    return {"crt": encode_base64(pair.crt), "key": key}


def encode_key(pem: Secret) -> Secret:
    """Return a key in the form of the v1alpha1 document."""
    return Secret(encode_base64(pem.reveal()))


_SOPS_MARK = "ENC[AES256_GCM,"


def list_machine_files(desired: Desired) -> dict[str, Origin | None]:
    """Return every file that machine configurations include, and where it is referenced."""
    return {name: origin for name, origin in _iter_file_names(desired) if name is not None}


def _iter_file_names(desired: Desired) -> Iterator[tuple[str | None, Origin | None]]:
    if desired.cluster is None:
        return
    for mirror in desired.cluster.talos.registries.values():
        yield mirror.ca_file, mirror.where("ca_file")
        yield mirror.client_cert_file, mirror.where("client_cert_file")
    for manifest in desired.cluster.kubernetes.inline_manifests.values():
        yield manifest.file, manifest.where("file")
    for node in desired.nodes:
        for name in node.settings.trusted_roots.values():
            yield name, node.settings.where("trusted_roots")


def file_text(machine: MachineInputs, name: str, origin: Origin | None) -> str:
    """Return the text of a file of the repository."""
    text = machine.files.get(name)
    if text is None:
        raise Refused(
            _file_problem(name, origin, "the file does not exist", "add it, or use another file")
        )
    if _SOPS_MARK in text:
        raise Refused(
            _file_problem(
                name,
                origin,
                "it is encrypted, and machines would get the ciphertext",
                "use an unencrypted file; secrets belong in component files",
            )
        )
    return text


def certificate_text(machine: MachineInputs, name: str | None, origin: Origin | None) -> str:
    """Return the certificates of a PEM file. Empty: no file is configured."""
    if name is None:
        return ""
    from stockman.crypto.certificates import read_certificate

    text = file_text(machine, name, origin)
    try:
        read_certificate(text)
    except NotPem:
        why = "it does not start with a certificate in PEM"
        fix = "export the certificate as PEM (`-----BEGIN CERTIFICATE-----`)"
        raise Refused(_file_problem(name, origin, why, fix)) from None
    return text


def _file_problem(name: str, origin: Origin | None, why: str, fix: str) -> Problem:
    return Problem(
        code="talos.file",
        what=f"{name} cannot be included in a machine configuration",
        where=origin.at if origin is not None else "",
        why=why,
        fix=fix,
    )
