"""Watching objects: what changed since a revision, as somebody with a selector sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from stockman_lab.etcd.errors import WatchCompacted
from stockman_lab.etcd.watching import Event, events
from stockman_lab.kube.failures import Failure, expired
from stockman_lab.kube.objects import Object
from stockman_lab.kube.store.entries import Entry
from stockman_lab.kube.store.store import Store, prefix_end

Matches = Callable[[Object], bool]
BOOKMARK_EVERY = 60.0
"""Seconds between two bookmarks, at least."""
BOOKMARK_BEFORE_END = 2.0
SLOWEST = 10_000
"""How many changes somebody may be behind before the server gives up on them."""


class Seen(Enum):
    """What happened to an object."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class Sight:
    """One event of a watch."""

    seen: Seen
    entry: Entry | None = None
    """None: a bookmark or an error."""
    revision: int = 0
    is_initial_end: bool = False
    """Of a bookmark: everything that was there in the beginning has been told."""
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """What somebody wants to watch."""

    prefix: bytes
    matches: Matches
    since: int | None = None
    """Changes behind this revision; None: first everything that is there."""
    bookmarks: bool = False
    initial_end: bool = False
    """Whether a bookmark tells when everything that was there is told."""
    until: float | None = None
    """When the watch ends."""
    at_least: int = 0
    """Of a watch that begins with everything: how new that is, at least."""


class Watch:
    """A watch as it goes on."""

    def __init__(self, store: Store, request: WatchRequest) -> None:
        self._store = store
        self._request = request
        self._next = 0 if request.since is None else request.since + 1
        self._bookmarked = store.now
        self._last = 0
        self.ended = False
        self._first: list[Sight] = [*self._beginning()] if request.since is None else []

    def take(self) -> list[Sight]:
        """What is new since this was last asked."""
        if self.ended:
            return []
        first, self._first = self._first, []
        try:
            first += self._changes()
        except WatchCompacted as gone:
            self.ended = True
            text = f"too old resource version: {self._next - 1} ({gone.revision - 1})"
            return [*first, Sight(Seen.ERROR, failure=expired(text))]
        return [*first, *self._closing()]

    async def sights(self) -> AsyncIterator[Sight]:
        """All of it, as it happens."""
        while True:
            result = self.take()
            for item in result:
                yield item
            if self.ended or self.is_too_slow:
                return
            if not result:
                await self._store.bell.rung()

    def _beginning(self) -> Iterator[Sight]:
        listed = self._store.list(self._request.prefix, cached=True)
        self._next = listed.revision + 1
        for entry in listed.entries:
            if self._request.matches(entry.content):
                yield Sight(Seen.ADDED, entry, entry.revision)
        if self._request.initial_end:
            self._last = listed.revision
            yield Sight(Seen.BOOKMARK, revision=listed.revision, is_initial_end=True)

    def _changes(self) -> Iterator[Sight]:
        keyspace = self._store.keyspace
        if self._next > keyspace.revision:
            return
        end = keyspace.revision
        prefix = self._request.prefix
        for event in events(keyspace, self._next, prefix, prefix_end(prefix)):
            sight = self._sight(event)
            if sight is not None:
                yield sight
        self._next = end + 1

    def _sight(self, event: Event) -> Sight | None:
        revision = event.content.mod_revision
        before = None if event.before is None else self._store.past(event.before)
        was = before is not None and self._request.matches(before.content)
        if event.is_deletion:
            return self._gone(before, revision) if was and before else None
        after = self._store.past(event.content)
        if self._request.matches(after.content):
            return Sight(Seen.MODIFIED if was else Seen.ADDED, after, revision)
        return self._gone(before, revision) if was and before else None

    def _gone(self, before: Entry, revision: int) -> Sight:
        metadata = {**before.content["metadata"], "resourceVersion": str(revision)}
        content = {**before.content, "metadata": metadata}
        return Sight(Seen.DELETED, Entry(before.key, revision, before.created, content), revision)

    def _closing(self) -> Iterator[Sight]:
        """Bookmarks, where they are due."""
        now, until = self._store.now, self._request.until
        ending = until is not None and now >= until - BOOKMARK_BEFORE_END
        due = ending or now - self._bookmarked >= BOOKMARK_EVERY
        newest = self._next - 1
        if self._request.bookmarks and due and newest > self._last:
            self._bookmarked, self._last = now, newest
            yield Sight(Seen.BOOKMARK, revision=newest)
        self.ended = until is not None and now >= until

    @property
    def is_too_slow(self) -> bool:
        """Whether the server gives up on whoever watches."""
        return self._store.keyspace.revision - self._next > SLOWEST
