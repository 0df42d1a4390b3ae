"""Objects of any kind: read, listed, made, applied, patched, deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol, TypeAlias

from stockman.model.record import record
from stockman.ports.kubernetes.kinds import Kind, Ref

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
class Listed:
    """All objects that were meant, as they were at one moment."""

    items: tuple[Object, ...]
    version: str
    """The resourceVersion of that moment; changes since then can be watched."""


@record
class Application:
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
class Deletion:
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

    async def get(self, ref: Ref) -> Object:
        """An object. `NotFound` where there is none, `Unsupported` where its kind is not served."""
        ...

    async def objects(self, kind: Kind, selection: Selection | None = None) -> Listed:
        """All objects that are meant, read page by page, all as of one moment."""
        ...

    async def create(self, kind: Kind, content: Object, *, dry_run: bool = False) -> Object:
        """Make a new object; returns it as it is then. `AlreadyThere` where there is one."""
        ...

    async def apply(self, kind: Kind, wish: Application) -> Object:
        """Make fields as we want them, on the server's side; the object need not be there."""
        ...

    async def replace(self, kind: Kind, content: Object, *, dry_run: bool = False) -> Object:
        """Put an object in place of what is there; `Conflict` unless its version is the newest."""
        ...

    async def patch(self, ref: Ref, patch: MergePatch | JsonPatch) -> Object:
        """Change an object; returns it as it is then."""
        ...

    async def delete(self, ref: Ref, how: Deletion | None = None) -> bool:
        """Delete an object. False: it is on its way, as it has finalizers or grace."""
        ...
