"""Calls that follow what happens to objects."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta

from stockman.kubernetes import problems
from stockman.kubernetes.calls.base import json_object, split_lines
from stockman.kubernetes.calls.objects import ObjectCalls, selection_query
from stockman.kubernetes.errors import Expired, error_for, read_status, unexpected_answer
from stockman.kubernetes.objects import (
    ResourceKind,
    Selection,
    WatchEvent,
    WatchEventType,
    kind_path,
)
from stockman.kubernetes.rows import UnexpectedAnswer, mapping, text
from stockman.kubernetes.transport import Request
from stockman.model.errors import Busy, Unreachable

_WATCH_SECONDS = 240
"""Seconds after which the server ends a watch, and another goes on behind it."""
_SILENCE_SECONDS = 300.0
_EVENT_TYPES = {
    "ADDED": WatchEventType.ADDED,
    "MODIFIED": WatchEventType.CHANGED,
    "DELETED": WatchEventType.GONE,
    "BOOKMARK": WatchEventType.PASSED,
}
_MAX_RETRIES = 3
_SHORTEST_WATCH = timedelta(seconds=1)


class WatchCalls(ObjectCalls):
    """`ports.kubernetes.watching.Watching` over a wire."""

    async def watch(
        self, kind: ResourceKind, selection: Selection | None = None, since: str = ""
    ) -> AsyncGenerator[WatchEvent, None]:
        wanted = selection or Selection()
        version, in_vain = since, 0
        while True:
            if not version:
                listed = await self.objects(kind, wanted)
                version = listed.version
                yield WatchEvent(seen=WatchEventType.LISTED, items=listed.items, version=version)
            request = _watch_request(kind, wanted, version)
            begun = self._clock.now()
            try:
                async with aclosing(self._sights(request)) as sights:
                    async for sight in sights:
                        version, in_vain = sight.version, 0
                        yield sight
                if self._clock.now() - begun > _SHORTEST_WATCH:
                    continue
                error: Expired | Unreachable = Unreachable(
                    problems.no_reply(request.shown, "it ends every watch at once")
                )
            except Busy:
                raise
            except Expired as gone:
                version, error = "", gone
            except Unreachable as cut:
                error = cut
            in_vain += 1
            if in_vain > (1 if isinstance(error, Unreachable) else _MAX_RETRIES):
                raise error

    async def _sights(self, request: Request) -> AsyncGenerator[WatchEvent, None]:
        """What one watch tells until it ends."""
        found = split_lines(request, self._wire.stream(request))
        async with aclosing(found):
            async for line in found:
                if line.strip():
                    yield _read_event(request, line)


def _watch_request(kind: ResourceKind, wanted: Selection, version: str) -> Request:
    return Request(
        method="GET",
        segments=kind_path(kind, wanted.namespace),
        query=(
            *selection_query(wanted),
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", version),
            ("timeoutSeconds", str(_WATCH_SECONDS)),
        ),
        seconds=_SILENCE_SECONDS,
    )


def _read_event(request: Request, line: bytes) -> WatchEvent:
    try:
        event = json_object(line)
        found, content = event.get("type"), mapping(event, "object")
        if found == "ERROR":
            raise error_for(request, read_status(request, content))
        seen = _EVENT_TYPES.get(found) if isinstance(found, str) else None
        if seen is None:
            raise UnexpectedAnswer(f"{found!r} is not an event")
        version = text(mapping(content, "metadata"), "resourceVersion")
    except UnexpectedAnswer as error:
        why = str(error)
    else:
        return WatchEvent(
            seen=seen, items=() if seen is WatchEventType.PASSED else (content,), version=version
        )
    raise unexpected_answer(request, why)
