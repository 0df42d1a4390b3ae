"""Kinds and references of objects, and the options of calls on objects of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TypeAlias

from stockman.model.record import record


@record
class ResourceKind:
    """A kind of objects as served by the API."""

    api_version: str
    """`v1`, `apps/v1`."""
    name: str
    """`Deployment`."""
    plural: str
    """`deployments`."""
    is_namespaced: bool = True

    @property
    def group(self) -> str:
        """Empty: the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def qualified(self) -> str:
        """The plural with its group: `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


@record
class ObjectRef:
    """The reference of an object."""

    kind: ResourceKind
    name: str
    namespace: str = ""
    """Empty: the kind is cluster-scoped."""

    @property
    def shown(self) -> str:
        """The reference for messages."""
        suffix = f" in {self.namespace}" if self.namespace else ""
        return f"{self.kind.qualified} {self.name}{suffix}"


NAMESPACES = ResourceKind(
    api_version="v1", name="Namespace", plural="namespaces", is_namespaced=False
)
NODES = ResourceKind(api_version="v1", name="Node", plural="nodes", is_namespaced=False)
PODS = ResourceKind(api_version="v1", name="Pod", plural="pods")
CONFIG_MAPS = ResourceKind(api_version="v1", name="ConfigMap", plural="configmaps")
SECRETS = ResourceKind(api_version="v1", name="Secret", plural="secrets")
SERVICE_ACCOUNTS = ResourceKind(api_version="v1", name="ServiceAccount", plural="serviceaccounts")
DEPLOYMENTS = ResourceKind(api_version="apps/v1", name="Deployment", plural="deployments")
DAEMON_SETS = ResourceKind(api_version="apps/v1", name="DaemonSet", plural="daemonsets")
STATEFUL_SETS = ResourceKind(api_version="apps/v1", name="StatefulSet", plural="statefulsets")
JOBS = ResourceKind(api_version="batch/v1", name="Job", plural="jobs")
DISRUPTION_BUDGETS = ResourceKind(
    api_version="policy/v1", name="PodDisruptionBudget", plural="poddisruptionbudgets"
)
LEASES = ResourceKind(api_version="coordination.k8s.io/v1", name="Lease", plural="leases")


def group_path(api_version: str) -> tuple[str, ...]:
    """Return the API path of a group and version."""
    group, _, version = api_version.rpartition("/")
    return ("apis", group, version) if group else ("api", version)


def kind_path(kind: ResourceKind, namespace: str = "") -> tuple[str, ...]:
    """Return the API path of all objects of a kind, in one namespace or in all."""
    namespaces = ("namespaces", namespace) if kind.is_namespaced and namespace else ()
    return (*group_path(kind.api_version), *namespaces, kind.plural)


def object_path(ref: ObjectRef, subresource: str = "") -> tuple[str, ...]:
    """Return the API path of an object or its subresource."""
    namespaces = ("namespaces", ref.namespace) if ref.kind.is_namespaced else ()
    subresources = (subresource,) if subresource else ()
    return (
        *group_path(ref.kind.api_version),
        *namespaces,
        ref.kind.plural,
        ref.name,
        *subresources,
    )


Object: TypeAlias = Mapping[str, object]
"""An object as parsed from JSON."""


@record
class Selection:
    """A selection of objects of a kind."""

    namespace: str = ""
    """Empty: all namespaces."""
    labels: str = ""
    """`app=web,tier in (front)`. Empty: any."""
    fields: str = ""
    """`spec.nodeName=cp-1`. Empty: any."""


@record
class ObjectList:
    """The selected objects at one resource version."""

    items: tuple[Object, ...]
    version: str
    """The resourceVersion of the list; a watch can continue from it. Empty: the API has none, as
    `metrics.k8s.io`."""


@record
class ServerSideApply:
    """Parameters of a server-side apply; omitted fields are not managed."""

    content: Object
    force: bool = False
    """Take over fields of other managers. Otherwise they raise `FieldConflict`."""
    manager: str = "stockman"
    subresource: str = ""
    """`status`. Empty: the object itself."""
    dry_run: bool = False


@record
class MergePatch:
    """A merge patch: None removes a key, a list replaces the whole list."""

    changes: Object
    subresource: str = ""
    dry_run: bool = False


@record
class JsonPatch:
    """A JSON patch: operations in order; `test` makes it conditional."""

    operations: Sequence[Object]
    subresource: str = ""
    dry_run: bool = False


class Propagation(Enum):
    """What happens to the dependents of a deleted object."""

    BACKGROUND = "Background"
    """They are deleted after the object."""
    FOREGROUND = "Foreground"
    """They are deleted before the object."""


@record
class DeleteOptions:
    """Options of a deletion."""

    uid: str = ""
    """Required UID, otherwise `Conflict`. Empty: not checked."""
    version: str = ""
    """Required resourceVersion. Empty: not checked."""
    propagation: Propagation | None = None
    """None: the default of the kind."""
    grace: int | None = None
    """Grace period in seconds. None: that of the object."""
    dry_run: bool = False


class WatchEventType(Enum):
    """The type of a watch event."""

    LISTED = "listed"
    """A complete list, which replaces everything known before."""
    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"
    """Deleted, or no longer selected; the last state of the object."""
    BOOKMARK = "bookmark"
    """A bookmark: no changes up to this resource version."""


@record
class WatchEvent:
    """An event of a watch."""

    type: WatchEventType
    items: tuple[Object, ...]
    """The changed object; all objects for a list, none for a bookmark."""
    version: str
    """The resourceVersion after the event, from which a watch can continue."""


@record
class Evicted:
    """The pod is being evicted."""


@record
class EvictionBlocked:
    """A PodDisruptionBudget currently prevents the eviction."""

    budget: str
    """Name of the budget. Empty: unknown."""
    why: str
    retry_after: float | None = None
    """Seconds to wait, from the server. None: unknown."""


@record
class EvictionOptions:
    """Options of an eviction."""

    uid: str = ""
    """Required UID, otherwise `Conflict`. Empty: not checked."""
    grace: int | None = None
    """Grace period in seconds. None: that of the pod."""
    dry_run: bool = False
