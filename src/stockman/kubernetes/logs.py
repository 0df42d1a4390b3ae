"""Calls for logs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from stockman.kubernetes.calls import READ_SECONDS, Calls
from stockman.kubernetes.lines import lines
from stockman.kubernetes.paths import object_path
from stockman.kubernetes.wire import Request
from stockman.ports.kubernetes.kinds import PODS, Ref
from stockman.ports.kubernetes.logs import LogWish

_FOLLOWED_SECONDS = 4 * 3600.0
"""Silence after which a log is given up: containers may have nothing to say for long."""


class LogCalls(Calls):
    """`ports.kubernetes.logs.Logs` over a wire."""

    async def log(self, wish: LogWish) -> AsyncGenerator[str, None]:
        request = Request(
            method="GET",
            segments=object_path(Ref(kind=PODS, name=wish.pod, namespace=wish.namespace), "log"),
            query=tuple(_parameters(wish)),
            accepts="*/*",
            seconds=_FOLLOWED_SECONDS if wish.follow else READ_SECONDS,
        )
        found = lines(request, self._wire.stream(request))
        async with aclosing(found):
            async for line in found:
                yield line.decode("utf-8", "replace")


def _parameters(wish: LogWish) -> list[tuple[str, str]]:
    found = [("container", wish.container)] if wish.container else []
    if wish.last is not None:
        found.append(("tailLines", str(wish.last)))
    if wish.since is not None:
        found.append(("sinceSeconds", str(wish.since)))
    if wish.previous:
        found.append(("previous", "true"))
    if wish.follow:
        found.append(("follow", "true"))
    return found
