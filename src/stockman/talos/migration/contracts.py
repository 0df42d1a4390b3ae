"""Contracts, the migration path between them, and fields that a newer contract moved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.version import Version
from stockman.talos.patches.documents import ConfigDocument
from stockman.talos.patches.schema import MINORS, load_schema

CONTRACTS = MINORS
"""Oldest first."""


def parse_contract(text: str) -> str:
    """Parse a contract, `1.14` or `v1.14.1`; raises Refused if it is unknown."""
    try:
        version = Version.parse(text)
    except ValueError:
        raise Refused(_unknown_contract_problem(text)) from None
    line = f"{version.major}.{version.minor}"
    if line not in CONTRACTS:
        raise Refused(_unknown_contract_problem(text))
    return line


def detect_contract(documents: Iterable[ConfigDocument]) -> str:
    """Return the oldest contract that supports every document of a configuration."""
    kinds = {document.kind.name for document in documents}
    for line in CONTRACTS:
        if kinds <= load_schema(line).kinds.keys():
            return line
    return CONTRACTS[-1]


def contract_path(source: str, target: str) -> tuple[str, ...]:
    """Return the contracts to migrate through; raises Refused for a downgrade."""
    first, last = CONTRACTS.index(source), CONTRACTS.index(target)
    if last < first:
        raise Refused(downgrade_problem(source, target))
    return CONTRACTS[first + 1 : last + 1]


def downgrade_problem(source: str, target: str) -> Problem:
    return Problem(
        code="migration.downward",
        what=f"a configuration of contract {source} cannot go back to contract {target}",
        why=f"{target} cannot express all settings of the documents of {source}",
        fix=f"choose contract {source} or later, or restore the older configuration from history",
    )


def _unknown_contract_problem(text: str) -> Problem:
    return Problem(
        code="migration.contract",
        what=f"unknown contract {text}",
        why=f"the supported contracts are {CONTRACTS[0]} to {CONTRACTS[-1]}",
        fix=f"use one of {', '.join(CONTRACTS)}",
    )


class MovedField(NamedTuple):
    """A field, the contract that moved it, and its new document."""

    path: str
    since: str
    to: str


MOVED_FIELDS = tuple(
    MovedField(*row)
    for row in (
        ("machine.network.hostname", "1.12", "HostnameConfig"),
        ("machine.network.interfaces", "1.12", "LinkConfig and related documents"),
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
        ("machine.network", "1.13", "network documents"),
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
        ("cluster.apiServer", "1.14", "KubeAPIServerConfig and related documents"),
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


def find_moved_field(path: str, target: str) -> MovedField | None:
    """Return the most specific moved field at or above a path. None: it was not moved."""

    last = CONTRACTS.index(target)
    matches = [
        field
        for field in MOVED_FIELDS
        if f"{path}.".startswith(f"{field.path}.") and CONTRACTS.index(field.since) <= last
    ]
    return max(matches, key=lambda field: len(field.path), default=None)
