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
"""Seconds after which the server ends a watch, which is then continued."""
_SILENCE_SECONDS = 300.0
_EVENT_TYPES = {
    "ADDED": WatchEventType.ADDED,
    "MODIFIED": WatchEventType.CHANGED,
    "DELETED": WatchEventType.DELETED,
    "BOOKMARK": WatchEventType.BOOKMARK,
}
_MAX_RETRIES = 3
_SHORTEST_WATCH = timedelta(seconds=1)


class WatchCalls(ObjectCalls):
    """Watching calls."""

    async def watch(
        self, kind: ResourceKind, selection: Selection | None = None, since: str = ""
    ) -> AsyncGenerator[WatchEvent, None]:
        """Yield the changes since a resource version; without one, start with a list.

        The watch runs until the caller stops it. If the resource version has expired, all objects
        are listed again. Raises `Unreachable` if the server does not respond any more.
        """
        selected = selection or Selection()
        version, failures = since, 0
        while True:
            if not version:
                listed = await self.objects(kind, selected)
                version = listed.version
                yield WatchEvent(type=WatchEventType.LISTED, items=listed.items, version=version)
            request = _watch_request(kind, selected, version)
            started = self._clock.now()
            try:
                async with aclosing(self._events(request)) as events:
                    async for event in events:
                        version, failures = event.version, 0
                        yield event
                if self._clock.now() - started > _SHORTEST_WATCH:
                    continue
                error: Expired | Unreachable = Unreachable(
                    problems.no_reply(request.shown, "the server ends every watch immediately")
                )
            except Busy:
                raise
            except Expired as expired:
                version, error = "", expired
            except Unreachable as unreachable:
                error = unreachable
            failures += 1
            if failures > (1 if isinstance(error, Unreachable) else _MAX_RETRIES):
                raise error

    async def _events(self, request: Request) -> AsyncGenerator[WatchEvent, None]:
        """Yield the events of one watch request."""
        lines = split_lines(request, self._transport.stream(request))
        async with aclosing(lines):
            async for line in lines:
                if line.strip():
                    yield _read_event(request, line)


def _watch_request(kind: ResourceKind, selection: Selection, version: str) -> Request:
    return Request(
        method="GET",
        segments=kind_path(kind, selection.namespace),
        query=(
            *selection_query(selection),
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
        name, content = event.get("type"), mapping(event, "object")
        if name == "ERROR":
            raise error_for(request, read_status(request, content))
        event_type = _EVENT_TYPES.get(name) if isinstance(name, str) else None
        if event_type is None:
            raise UnexpectedAnswer(f"{name!r} is not an event")
        version = text(mapping(content, "metadata"), "resourceVersion")
    except UnexpectedAnswer as error:
        why = str(error)
    else:
        return WatchEvent(
            type=event_type,
            items=() if event_type is WatchEventType.BOOKMARK else (content,),
            version=version,
        )
    raise unexpected_answer(request, why)
