"""Kinds and fields of objects that the Kubernetes stage reads and writes."""

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
"""Kinds of Flux, in the order in which Flux processes them."""
_KNOWN = {
    (kind.api_version, kind.name): kind
    for kind in (
        *(CONFIG_MAPS, DAEMON_SETS, DEPLOYMENTS, JOBS, NAMESPACES, NODES, SECRETS),
        *(SERVICE_ACCOUNTS, STATEFUL_SETS, DEFINITIONS, ROLE_BINDINGS, *FLUX),
    )
}


async def find_kind(
    kubernetes: KubernetesClient, api_version: str, name: str
) -> ResourceKind | None:
    """Return a kind by name; queries only unknown kinds. None: it is not served."""
    known = _KNOWN.get((api_version, name))
    return known or await kubernetes.find_kind(api_version, name)


MANAGER = "stockman"
"""Field manager of stockman."""
MANAGED_BY = "app.kubernetes.io/managed-by"
FLUX_OWNER = "kustomize.toolkit.fluxcd.io/name"
"""Label of objects that Flux applied."""
HELM_OWNER = "meta.helm.sh/release-name"
"""Annotation of objects that a Helm release created."""


def mapping_at(content: Object, *path: str) -> Mapping[str, object]:
    """Return a mapping at a path; empty if there is none."""
    value: object = content
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def mappings_at(content: Object, *path: str) -> tuple[Mapping[str, object], ...]:
    """Return the mappings in a list at a path; empty if there is none."""
    items = mapping_at(content, *path[:-1]).get(path[-1])
    if not isinstance(items, list | tuple):
        return ()
    return tuple(item for item in items if isinstance(item, Mapping))


def text_at(content: Object, *path: str) -> str:
    """Return a string at a path; empty if there is none."""
    value = mapping_at(content, *path[:-1]).get(path[-1])
    return value if isinstance(value, str) else ""


def number_at(content: Object, *path: str) -> int:
    """Return a number at a path; 0 if there is none."""
    value = mapping_at(content, *path[:-1]).get(path[-1])
    return value if isinstance(value, int) else 0


def parse_time(text: str) -> datetime | None:
    """Return a time of Kubernetes. None: the text is not a time with a zone."""
    try:
        time = datetime.fromisoformat(text.removesuffix("Z") + "+00:00" * text.endswith("Z"))
    except ValueError:
        return None
    return time if time.tzinfo is not None else None


def object_name(content: Object) -> str:
    return text_at(content, "metadata", "name")


def object_uid(content: Object) -> str:
    """Return the UID of an object; a deletion with it affects no other object of that name."""
    return text_at(content, "metadata", "uid")


def is_managed(content: Object) -> bool:
    """Return whether stockman created an object."""
    return text_at(content, "metadata", "labels", MANAGED_BY) == MANAGER


def is_managed_by_flux(content: Object) -> bool:
    """Return whether Flux manages an object."""
    return bool(text_at(content, "metadata", "labels", FLUX_OWNER))


def field_managers(content: Object) -> tuple[str, ...]:
    """Return the field managers of an object, each once."""
    fields = mappings_at(content, "metadata", "managedFields")
    managers = (text_at(entry, "manager") for entry in fields)
    return tuple(dict.fromkeys(manager for manager in managers if manager))


@record
class StatusCondition:
    """A condition in the status of an object."""

    status: str
    """`True`, `False`, `Unknown`. Empty: there is no such condition."""
    reason: str = ""
    message: str = ""

    @property
    def holds(self) -> bool:
        return self.status == "True"


def read_condition(content: Object, kind: str) -> StatusCondition:
    """Return a condition of an object by its type."""
    for condition in mappings_at(content, "status", "conditions"):
        if condition.get("type") == kind:
            return StatusCondition(
                status=text_at(condition, "status"),
                reason=text_at(condition, "reason"),
                message=text_at(condition, "message"),
            )
    return StatusCondition(status="")


def with_owner_labels(
    kind: ResourceKind, name: str, namespace: str = "", **more: object
) -> dict[str, object]:
    """Return an object with the label of stockman."""
    metadata: dict[str, object] = {"name": name, "labels": {MANAGED_BY: MANAGER}}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, **more}


async def find_object(kubernetes: KubernetesClient, ref: ObjectRef) -> Object | None:
    """Return an object. None: it does not exist."""
    try:
        return await kubernetes.get(ref)
    except NotFound:
        return None


async def apply_object(kubernetes: KubernetesClient, kind: ResourceKind, content: Object) -> Object:
    """Apply our fields; raises `Refused` if they conflict with fields that others manage."""
    try:
        return await kubernetes.apply(kind, ServerSideApply(content=content, manager=MANAGER))
    except FieldConflict as conflict:
        ref = ObjectRef(
            kind=kind,
            name=object_name(content),
            namespace=text_at(content, "metadata", "namespace"),
        )
        fields = ", ".join(
            f"{entry.field} (set by {entry.manager})" for entry in conflict.fields if entry.field
        )
        why = f"it differs in {fields}" if fields else "it differs from the desired object"
        raise Refused(problems.foreign_object(ref, conflict.managers, why)) from conflict
