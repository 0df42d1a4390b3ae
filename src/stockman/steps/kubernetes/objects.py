"""Kinds of objects that the Kubernetes stage reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.errors import FieldConflict
from stockman.kubernetes.objects import (
    CONFIG_MAPS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    NAMESPACES,
    NODES,
    SECRETS,
    SERVICE_ACCOUNTS,
    STATEFUL_SETS,
    Object,
    ObjectRef,
    ResourceKind,
    ServerSideApply,
)
from stockman.model.errors import NotFound, Refused
from stockman.model.record import record
from stockman.steps.kubernetes import problems

DEFINITIONS = ResourceKind(
    api_version="apiextensions.k8s.io/v1",
    name="CustomResourceDefinition",
    plural="customresourcedefinitions",
    is_namespaced=False,
)
ROLE_BINDINGS = ResourceKind(
    api_version="rbac.authorization.k8s.io/v1",
    name="ClusterRoleBinding",
    plural="clusterrolebindings",
    is_namespaced=False,
)
GIT_REPOSITORIES = ResourceKind(
    api_version="source.toolkit.fluxcd.io/v1", name="GitRepository", plural="gitrepositories"
)
OCI_REPOSITORIES = ResourceKind(
    api_version="source.toolkit.fluxcd.io/v1", name="OCIRepository", plural="ocirepositories"
)
HELM_REPOSITORIES = ResourceKind(
    api_version="source.toolkit.fluxcd.io/v1", name="HelmRepository", plural="helmrepositories"
)
KUSTOMIZATIONS = ResourceKind(
    api_version="kustomize.toolkit.fluxcd.io/v1", name="Kustomization", plural="kustomizations"
)
HELM_RELEASES = ResourceKind(
    api_version="helm.toolkit.fluxcd.io/v2", name="HelmRelease", plural="helmreleases"
)
FLUX_INSTANCES = ResourceKind(
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


async def find_kind(
    kubernetes: KubernetesClient, api_version: str, name: str
) -> ResourceKind | None:
    """A kind by its name; only what is not known here is asked for. None: it is not served."""
    known = _KNOWN.get((api_version, name))
    return known or await kubernetes.find_kind(api_version, name)


MANAGER = "stockman"
"""As whom we own fields of objects."""
MANAGED_BY = "app.kubernetes.io/managed-by"
FLUX_OWNER = "kustomize.toolkit.fluxcd.io/name"
"""Label of objects that Flux applied."""
HELM_OWNER = "meta.helm.sh/release-name"
"""Annotation of objects that a release of Helm made."""


def mapping_at(content: Object, *path: str) -> Mapping[str, object]:
    """A mapping inside of an object; empty where there is none."""
    found: object = content
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def mappings_at(content: Object, *path: str) -> tuple[Mapping[str, object], ...]:
    """A list of mappings inside of an object; empty where there is none."""
    found = mapping_at(content, *path[:-1]).get(path[-1])
    if not isinstance(found, list | tuple):
        return ()
    return tuple(one for one in found if isinstance(one, Mapping))


def text_at(content: Object, *path: str) -> str:
    """A text inside of an object; empty where there is none."""
    found = mapping_at(content, *path[:-1]).get(path[-1])
    return found if isinstance(found, str) else ""


def number_at(content: Object, *path: str) -> int:
    """A number inside of an object; 0 where there is none."""
    found = mapping_at(content, *path[:-1]).get(path[-1])
    return found if isinstance(found, int) else 0


def parse_time(written: str) -> datetime | None:
    """A point in time as Kubernetes writes it. None: it is none."""
    try:
        found = datetime.fromisoformat(written.removesuffix("Z") + "+00:00" * written.endswith("Z"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def object_name(content: Object) -> str:
    return text_at(content, "metadata", "name")


def object_uid(content: Object) -> str:
    return text_at(content, "metadata", "uid")


def is_managed(content: Object) -> bool:
    """Whether we made an object."""
    return text_at(content, "metadata", "labels", MANAGED_BY) == MANAGER


def is_managed_by_flux(content: Object) -> bool:
    """Whether Flux keeps an object as the repository has it."""
    return bool(text_at(content, "metadata", "labels", FLUX_OWNER))


def field_managers(content: Object) -> tuple[str, ...]:
    """Who wrote an object, each once, as far as the server tells."""
    found = (text_at(one, "manager") for one in mappings_at(content, "metadata", "managedFields"))
    return tuple(dict.fromkeys(one for one in found if one))


@record
class StatusCondition:
    """A condition as an object tells it of itself."""

    status: str
    """`True`, `False`, `Unknown`. Empty: it says nothing."""
    reason: str = ""
    message: str = ""

    @property
    def holds(self) -> bool:
        return self.status == "True"


def read_condition(content: Object, kind: str) -> StatusCondition:
    """One condition of an object."""
    for one in mappings_at(content, "status", "conditions"):
        if one.get("type") == kind:
            return StatusCondition(
                status=text_at(one, "status"),
                reason=text_at(one, "reason"),
                message=text_at(one, "message"),
            )
    return StatusCondition(status="")


def with_owner_labels(
    kind: ResourceKind, name: str, namespace: str = "", **more: object
) -> dict[str, object]:
    """An object that says whose it is."""
    metadata: dict[str, object] = {"name": name, "labels": {MANAGED_BY: MANAGER}}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, **more}


async def find_object(kubernetes: KubernetesClient, ref: ObjectRef) -> Object | None:
    """An object; None: there is none."""
    try:
        return await kubernetes.get(ref)
    except NotFound:
        return None


async def apply_object(kubernetes: KubernetesClient, kind: ResourceKind, content: Object) -> Object:
    """Make our fields so; fields that others own stay theirs, and are a `Refused`."""
    try:
        return await kubernetes.apply(kind, ServerSideApply(content=content, manager=MANAGER))
    except FieldConflict as conflict:
        ref = ObjectRef(
            kind=kind,
            name=object_name(content),
            namespace=text_at(content, "metadata", "namespace"),
        )
        fields = ", ".join(
            f"{one.field} (set by {one.manager})" for one in conflict.fields if one.field
        )
        why = f"it differs in {fields}" if fields else "it differs from what is wanted"
        raise Refused(problems.foreign_object(ref, conflict.managers, why)) from conflict
