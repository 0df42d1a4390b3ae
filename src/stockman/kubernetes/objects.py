"""Kinds of objects, and objects by name."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from enum import Enum
from typing import Protocol, TypeAlias

from stockman.model.record import record


@record
class ResourceKind:
    """A kind as it is served."""

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
        """The plural as texts of the server have it: `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


@record
class ObjectRef:
    """One object by its name."""

    kind: ResourceKind
    name: str
    namespace: str = ""
    """Empty: objects of this kind are in none."""

    @property
    def shown(self) -> str:
        """For people."""
        place = f" in {self.namespace}" if self.namespace else ""
        return f"{self.kind.qualified} {self.name}{place}"


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
    """Of a group in a version."""
    group, _, version = api_version.rpartition("/")
    return ("apis", group, version) if group else ("api", version)


def kind_path(kind: ResourceKind, namespace: str = "") -> tuple[str, ...]:
    """Of all objects of a kind, in one namespace or in all."""
    place = ("namespaces", namespace) if kind.is_namespaced and namespace else ()
    return (*group_path(kind.api_version), *place, kind.plural)


def object_path(ref: ObjectRef, subresource: str = "") -> tuple[str, ...]:
    """Of one object, or of what is below it."""
    place = ("namespaces", ref.namespace) if ref.kind.is_namespaced else ()
    below = (subresource,) if subresource else ()
    return (*group_path(ref.kind.api_version), *place, ref.kind.plural, ref.name, *below)


Object: TypeAlias = Mapping[str, object]
"""An object as it stands in JSON."""


@record
class Selection:
    """Which objects of a kind are meant."""

    namespace: str = ""
    """Empty: those of all namespaces."""
    labels: str = ""
    """`app=web,tier in (front)`. Empty: any."""
    fields: str = ""
    """`spec.nodeName=cp-1`. Empty: any."""


@record
class ObjectList:
    """All objects that were meant, as they were at one moment."""

    items: tuple[Object, ...]
    version: str
    """The resourceVersion of that moment; changes since then can be watched."""


@record
class ServerSideApply:
    """What we want of an object: fields that are left out are not ours."""

    content: Object
    force: bool = False
    """Take over fields that others own. Otherwise they are a `FieldConflict`."""
    manager: str = "stockman"
    subresource: str = ""
    """`status`. Empty: the object itself."""
    dry_run: bool = False


@record
class MergePatch:
    """Values by key: None takes a key away, a list replaces the whole list."""

    changes: Object
    subresource: str = ""
    dry_run: bool = False


@record
class JsonPatch:
    """Operations one after the other; `test` makes it conditional."""

    operations: Sequence[Object]
    subresource: str = ""
    dry_run: bool = False


class Propagation(Enum):
    """What becomes of those that an object owns."""

    BACKGROUND = "Background"
    """They go after it."""
    FOREGROUND = "Foreground"
    """They go before it."""
    ORPHAN = "Orphan"
    """They stay."""


@record
class DeleteOptions:
    """How an object goes."""

    uid: str = ""
    """Only if it is this one, otherwise `Conflict`. Empty: whichever has the name."""
    version: str = ""
    """Only if nothing changed since. Empty: in any case."""
    propagation: Propagation | None = None
    """None: as is usual for its kind."""
    grace: int | None = None
    """Seconds. None: as the object says."""
    dry_run: bool = False


class Objects(Protocol):
    """Objects, whatever their kind."""

    async def get(self, ref: ObjectRef) -> Object:
        """An object. `NotFound` where there is none, `Unsupported` where its kind is not served."""
        ...

    async def objects(self, kind: ResourceKind, selection: Selection | None = None) -> ObjectList:
        """All objects that are meant, read page by page, all as of one moment."""
        ...

    async def create(self, kind: ResourceKind, content: Object, *, dry_run: bool = False) -> Object:
        """Make a new object; returns it as it is then. `AlreadyThere` where there is one."""
        ...

    async def apply(self, kind: ResourceKind, wish: ServerSideApply) -> Object:
        """Make fields as we want them, on the server's side; the object need not be there."""
        ...

    async def replace(
        self, kind: ResourceKind, content: Object, *, dry_run: bool = False
    ) -> Object:
        """Put an object in place of what is there; `Conflict` unless its version is the newest."""
        ...

    async def patch(self, ref: ObjectRef, patch: MergePatch | JsonPatch) -> Object:
        """Change an object; returns it as it is then."""
        ...

    async def delete(self, ref: ObjectRef, how: DeleteOptions | None = None) -> bool:
        """Delete an object. False: it is on its way, as it has finalizers or grace."""
        ...


class WatchEventType(Enum):
    """What became of objects."""

    LISTED = "listed"
    """These are all of them: whatever was known before is no longer true."""
    ADDED = "added"
    CHANGED = "changed"
    GONE = "gone"
    """Deleted, or no longer meant by the selection. The object as it was last."""
    PASSED = "passed"
    """Nothing, up to this version: a watch that goes on from there misses nothing."""


@record
class WatchEvent:
    """One thing that happened."""

    seen: WatchEventType
    items: tuple[Object, ...]
    """One object; all of them where they are listed, none where nothing happened."""
    version: str
    """A watch can go on behind it."""


class Watches(Protocol):
    """Objects as they change."""

    def watch(
        self, kind: ResourceKind, selection: Selection | None = None, since: str = ""
    ) -> AsyncGenerator[WatchEvent, None]:
        """Everything that happens since a version; without one it begins with all that is there.

        It goes on until its reader stops it. When the server no longer keeps the changes, all
        objects are listed anew. `Unreachable` where the server cannot be asked any more.
        """
        ...


@record
class Evicted:
    """The pod goes."""


@record
class EvictionBlocked:
    """A disruption budget keeps the pod for now."""

    budget: str
    """Its name. Empty: the server does not tell."""
    why: str
    retry_after: float | None = None
    """Seconds that the server asks for. None: it does not say."""


@record
class EvictionOptions:
    """How a pod is evicted."""

    uid: str = ""
    """Only if it is this one, otherwise `Conflict`. Empty: whichever has the name."""
    grace: int | None = None
    """Seconds. None: as the pod says."""
    dry_run: bool = False


class Evictions(Protocol):
    """Pods, asked to go."""

    async def evict(
        self, namespace: str, name: str, how: EvictionOptions | None = None
    ) -> Evicted | EvictionBlocked:
        """Let a pod go, if its budget allows it. `Busy` is about the server, not about budgets."""
        ...


@record
class Scale:
    """How many there shall be, and are."""

    wanted: int
    there: int
    version: str
    """The resourceVersion of what is scaled."""


class Scaling(Protocol):
    """Workloads of any kind that has a scale."""

    async def scale(self, ref: ObjectRef) -> Scale:
        """The scale of a workload."""
        ...

    async def set_scale(self, ref: ObjectRef, replicas: int) -> Scale:
        """Say how many there shall be; whoever else owns the number is not asked."""
        ...
