"""Tasks: workers that a request starts and that go on without it."""

from __future__ import annotations

from dataclasses import field

from stockman_lab.core.state import state


@state
class Task:
    """One worker, running or ended."""

    upid: str
    node: str
    type: str
    id: str
    """Of what it works on. Empty: nothing in particular."""
    user: str
    """Who asked for it: `user@realm` or `user@realm!token`."""
    pid: int
    pstart: int
    started_at: float
    work: str = ""
    """Name of what it does."""
    arguments: dict[str, object] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    ended_at: float | None = None
    exit_status: str = ""
    hangs: bool = False

    @property
    def is_running(self) -> bool:
        return self.ended_at is None
