"""Resources of one kind on one machine: what is there, in which version, and what happened.

Machines are not watched: what changed is found when somebody looks. Versions and moments of what
was seen are kept with the machine, and the last events in memory, for those who come back.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from stockman_lab.talos.cosi.registry import Content, ResourceKind, content_of
from stockman_lab.talos.cosi.seen import Seen
from stockman_lab.talos.cosi.shaping import written

if TYPE_CHECKING:
    from stockman_lab.talos.cosi.tables import Definition
    from stockman_lab.talos.machine import Machine

CREATED, UPDATED, DESTROYED, BOOTSTRAPPED, NOOP = 0, 1, 2, 3, 5
_KEPT = 128
_COOKIE = 8
_BOOKMARK = 16


class InvalidBookmark(Exception):
    """A bookmark of another boot, or of what is forgotten already."""


@dataclass(frozen=True, slots=True)
class Happened:
    """Something that happened to a resource."""

    what: int
    resource: Seen
    old: Seen | None
    position: int


@dataclass(slots=True)
class Collection:
    """All resources of a kind."""

    machine: Machine
    definition: Definition
    kind: ResourceKind
    boot: int
    items: dict[str, Seen] = field(default_factory=dict)
    events: deque[Happened] = field(default_factory=lambda: deque(maxlen=_KEPT))
    known: set[str] | None = None
    """Ids of what is kept. None: nobody looked yet."""

    def look(self) -> None:
        """Find out what is there now."""
        contents = {
            name: content_of(one) for name, one in sorted(self.kind.told(self.machine).items())
        }
        was_seen = self._mark in self._kept
        self._kept.setdefault(self._mark, [0])
        known = self._kept_names() if self.known is None else self.known
        for name in sorted(known - set(contents)):
            self._lose(name)
        for name, content in contents.items():
            self._see(name, content, was_seen=was_seen)
        self.known = set(contents)

    @property
    def position(self) -> int:
        """How many events there were, ever."""
        return cast("int", self._kept.setdefault(self._mark, [0])[0])

    def since(self, position: int) -> list[Happened]:
        """Events from a position on."""
        return [event for event in self.events if event.position >= position]

    def bookmark(self, position: int) -> bytes:
        """What a follower can come back with, to go on behind an event."""
        return self._cookie + position.to_bytes(8, "big", signed=True)

    def behind(self, bookmark: bytes, *, lowest: int = -1) -> int:
        """The position that a follower with a bookmark goes on from."""
        if len(bookmark) != _BOOKMARK or bookmark[:_COOKIE] != self._cookie:
            raise InvalidBookmark
        position = int.from_bytes(bookmark[_COOKIE:], "big", signed=True)
        oldest = self.events[0].position if self.events else self.position
        if position < lowest or position >= self.position:
            raise InvalidBookmark
        if position + 1 < oldest:
            raise InvalidBookmark
        return position + 1

    def tail(self, count: int) -> int:
        """The position that the last events begin at."""
        oldest = self.events[0].position if self.events else self.position
        return max(self.position - count, oldest)

    # -- what is kept with the machine -----------------------------------------------------------

    @property
    def _kept(self) -> dict[str, list[object]]:
        return self.machine.state.resources

    @property
    def _mark(self) -> str:
        return f"{self.kind.type}//"

    @property
    def _cookie(self) -> bytes:
        text = f"{self.machine.key}/{self.machine.state.boot_id}/{self.boot}"
        return hashlib.blake2b(text.encode(), digest_size=_COOKIE).digest()

    def _key(self, name: str) -> str:
        return f"{self.kind.type}/{name}"

    def _kept_names(self) -> set[str]:
        prefix = f"{self.kind.type}/"
        return {
            one.removeprefix(prefix)
            for one in self._kept
            if one.startswith(prefix) and one != self._mark
        }

    def _see(self, name: str, content: Content, *, was_seen: bool) -> None:
        digest = _digest(content)
        kept = self._kept.get(self._key(name))
        before = self.items.get(name)
        if kept is not None and kept[3] == digest:
            if before is None:
                self.items[name] = self._seen(name, content, kept)
            return
        now = self.machine.now
        if kept is None:
            moment = now if was_seen else self.machine.state.kernel_at
            kept = self._kept[self._key(name)] = [1, moment, moment, digest]
            self.items[name] = self._seen(name, content, kept)
            if was_seen:
                self._happen(CREATED, self.items[name], None)
            return
        kept[0], kept[2], kept[3] = cast("int", kept[0]) + 1, now, digest
        self.items[name] = self._seen(name, content, kept)
        self._happen(UPDATED, self.items[name], before)

    def _lose(self, name: str) -> None:
        kept = self._kept.pop(self._key(name))
        before = self.items.pop(name, None)
        if before is None:  # seen before the world was saved, and what it held is forgotten
            before = Seen(
                self.definition.namespace,
                self.kind.type,
                name,
                cast("int", kept[0]),
                self.kind.owner,
                cast("float", kept[1]),
                cast("float", kept[2]),
                {},
            )
        self._happen(DESTROYED, before, None)

    def _happen(self, number: int, resource: Seen, old: Seen | None) -> None:
        mark = self._kept[self._mark]
        self.events.append(Happened(number, resource, old, cast("int", mark[0])))
        mark[0] = cast("int", mark[0]) + 1

    def _seen(self, name: str, content: Content, kept: list[object]) -> Seen:
        return Seen(
            self.definition.namespace,
            self.kind.type,
            name,
            cast("int", kept[0]),
            self.kind.owner,
            cast("float", kept[1]),
            cast("float", kept[2]),
            written(self.kind, self.machine.minor, content.spec),
            content.labels,
            content.annotations,
        )


def collection(machine: Machine, definition: Definition, kind: ResourceKind) -> Collection:
    """The resources of a kind on a machine, as they are now; another boot begins anew."""
    collection = machine.collections.get(kind.type)
    if not isinstance(collection, Collection) or collection.boot != machine.state.boot:
        collection = Collection(machine, definition, kind, machine.state.boot)
        machine.collections[kind.type] = collection
    collection.look()
    return collection


def _digest(content: Content) -> str:
    text = json.dumps(
        [content.spec, content.labels, content.annotations], sort_keys=True, default=repr
    )
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
