"""Calls that follow what happens to objects."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta

from stockman.kubernetes import problems
from stockman.kubernetes.calls import json_object
from stockman.kubernetes.lines import lines
from stockman.kubernetes.objects import ObjectCalls, selecting
from stockman.kubernetes.paths import kind_path
from stockman.kubernetes.refusals import meaning, odd_answer, status_refusal
from stockman.kubernetes.rows import OddAnswer, part, text
from stockman.kubernetes.wire import Request
from stockman.model.errors import Busy, Unreachable
from stockman.ports.kubernetes.errors import Expired
from stockman.ports.kubernetes.kinds import Kind
from stockman.ports.kubernetes.objects import Selection
from stockman.ports.kubernetes.watching import Seen, Sight

_LASTS = 240
"""Seconds after which the server ends a watch, and another goes on behind it."""
_SILENCE = 300.0
_SEEN = {
    "ADDED": Seen.ADDED,
    "MODIFIED": Seen.CHANGED,
    "DELETED": Seen.GONE,
    "BOOKMARK": Seen.PASSED,
}
_MOST_IN_VAIN = 3
_AT_ONCE = timedelta(seconds=1)


class WatchCalls(ObjectCalls):
    """`ports.kubernetes.watching.Watching` over a wire."""

    async def watch(
        self, kind: Kind, selection: Selection | None = None, since: str = ""
    ) -> AsyncGenerator[Sight, None]:
        wanted = selection or Selection()
        version, in_vain = since, 0
        while True:
            if not version:
                listed = await self.objects(kind, wanted)
                version = listed.version
                yield Sight(seen=Seen.LISTED, items=listed.items, version=version)
            request = _request(kind, wanted, version)
            begun = self._clock.now()
            try:
                async with aclosing(self._sights(request)) as sights:
                    async for sight in sights:
                        version, in_vain = sight.version, 0
                        yield sight
                if self._clock.now() - begun > _AT_ONCE:
                    continue
                error: Expired | Unreachable = Unreachable(
                    problems.silent(request.shown, "it ends every watch at once")
                )
            except Busy:
                raise
            except Expired as gone:
                version, error = "", gone
            except Unreachable as cut:
                error = cut
            in_vain += 1
            if in_vain > (1 if isinstance(error, Unreachable) else _MOST_IN_VAIN):
                raise error

    async def _sights(self, request: Request) -> AsyncGenerator[Sight, None]:
        """What one watch tells until it ends."""
        found = lines(request, self._wire.stream(request))
        async with aclosing(found):
            async for line in found:
                if line.strip():
                    yield _sight(request, line)


def _request(kind: Kind, wanted: Selection, version: str) -> Request:
    return Request(
        method="GET",
        segments=kind_path(kind, wanted.namespace),
        query=(
            *selecting(wanted),
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", version),
            ("timeoutSeconds", str(_LASTS)),
        ),
        seconds=_SILENCE,
    )


def _sight(request: Request, line: bytes) -> Sight:
    try:
        event = json_object(line)
        found, content = event.get("type"), part(event, "object")
        if found == "ERROR":
            raise meaning(request, status_refusal(request, content))
        seen = _SEEN.get(found) if isinstance(found, str) else None
        if seen is None:
            raise OddAnswer(f"{found!r} is not an event")
        version = text(part(content, "metadata"), "resourceVersion")
    except OddAnswer as error:
        why = str(error)
    else:
        return Sight(seen=seen, items=() if seen is Seen.PASSED else (content,), version=version)
    raise odd_answer(request, why)
