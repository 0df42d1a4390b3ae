"""One log line for each request, without query, headers and content: they may be confidential."""

from __future__ import annotations

import asyncio
import logging

REQUESTS = logging.getLogger("stockman.requests")


def log_request(what: str, result: str, started: float, *, is_read: bool) -> None:
    """Log a request: successful reads as details, everything else as information.

    `started` is a time of the event loop.
    """
    level = logging.DEBUG if is_read else logging.INFO
    if REQUESTS.isEnabledFor(level):
        seconds = asyncio.get_running_loop().time() - started
        REQUESTS.log(level, "%s: %s, %.3f s", what, result, seconds)
