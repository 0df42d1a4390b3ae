"""Logs of containers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from stockman.model.record import record


@record
class LogWish:
    """Which log is wanted."""

    namespace: str
    pod: str
    container: str = ""
    """Empty: the only one."""
    last: int | None = None
    """So many lines from its end. None: all of them."""
    since: int | None = None
    """Not older than so many seconds. None: of any age."""
    previous: bool = False
    """Of the container that ran before this one."""
    follow: bool = False


class Logs(Protocol):
    """What containers say."""

    def log(self, wish: LogWish) -> AsyncGenerator[str, None]:
        """Lines of a log, no faster than they are taken."""
        ...
