"""Kinds of objects that the Kubernetes stage reads and writes."""

from __future__ import annotations

from stockman.ports.kubernetes import Kubernetes
from stockman.ports.kubernetes.kinds import (
    CONFIG_MAPS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    NAMESPACES,
    NODES,
    SECRETS,
    SERVICE_ACCOUNTS,
    STATEFUL_SETS,
    Kind,
)

DEFINITIONS = Kind(
    api_version="apiextensions.k8s.io/v1",
    name="CustomResourceDefinition",
    plural="customresourcedefinitions",
    is_namespaced=False,
)
ROLE_BINDINGS = Kind(
    api_version="rbac.authorization.k8s.io/v1",
    name="ClusterRoleBinding",
    plural="clusterrolebindings",
    is_namespaced=False,
)
GIT_REPOSITORIES = Kind(
    api_version="source.toolkit.fluxcd.io/v1", name="GitRepository", plural="gitrepositories"
)
OCI_REPOSITORIES = Kind(
    api_version="source.toolkit.fluxcd.io/v1", name="OCIRepository", plural="ocirepositories"
)
HELM_REPOSITORIES = Kind(
    api_version="source.toolkit.fluxcd.io/v1", name="HelmRepository", plural="helmrepositories"
)
KUSTOMIZATIONS = Kind(
    api_version="kustomize.toolkit.fluxcd.io/v1", name="Kustomization", plural="kustomizations"
)
HELM_RELEASES = Kind(
    api_version="helm.toolkit.fluxcd.io/v2", name="HelmRelease", plural="helmreleases"
)
FLUX_INSTANCES = Kind(
    api_version="fluxcd.controlplane.io/v1", name="FluxInstance", plural="fluxinstances"
)
FLUX = (
    FLUX_INSTANCES,
    GIT_REPOSITORIES,
    OCI_REPOSITORIES,
    HELM_REPOSITORIES,
    KUSTOMIZATIONS,
    HELM_RELEASES,
)
"""What Flux works with, in the order in which one looks at it."""
_KNOWN = {
    (one.api_version, one.name): one
    for one in (
        *(CONFIG_MAPS, DAEMON_SETS, DEPLOYMENTS, JOBS, NAMESPACES, NODES, SECRETS),
        *(SERVICE_ACCOUNTS, STATEFUL_SETS, DEFINITIONS, ROLE_BINDINGS, *FLUX),
    )
}


async def kind_of(kubernetes: Kubernetes, api_version: str, name: str) -> Kind | None:
    """A kind by its name; only what is not known here is asked for. None: it is not served."""
    known = _KNOWN.get((api_version, name))
    return known or await kubernetes.served_kind(api_version, name)
