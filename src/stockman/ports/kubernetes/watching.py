"""What happens to objects, told as it happens."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from enum import Enum
from typing import Protocol

from stockman.model.record import record
from stockman.ports.kubernetes.kinds import Kind
from stockman.ports.kubernetes.objects import Object, Selection


class Seen(Enum):
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
class Sight:
    """One thing that happened."""

    seen: Seen
    items: tuple[Object, ...]
    """One object; all of them where they are listed, none where nothing happened."""
    version: str
    """A watch can go on behind it."""


class Watching(Protocol):
    """Objects as they change."""

    def watch(
        self, kind: Kind, selection: Selection | None = None, since: str = ""
    ) -> AsyncGenerator[Sight, None]:
        """Everything that happens since a version; without one it begins with all that is there.

        It goes on until its reader stops it. When the server no longer keeps the changes, all
        objects are listed anew. `Unreachable` where the server cannot be asked any more.
        """
        ...
