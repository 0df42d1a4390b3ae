"""Work that Proxmox VE does in the background, and how it ended."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Protocol

from stockman.model.names import HostName
from stockman.model.record import record

_HEX8 = "[0-9A-Fa-f]{8}"
_UPID = re.compile(
    r"UPID:(?P<host>[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)"
    rf":{_HEX8}:[0-9A-Fa-f]{{8,9}}:(?P<started>{_HEX8})"
    r":(?P<kind>[^:\s/]+):(?P<subject>[^:\s/]*):(?P<user>[^:\s/]+):"
)


@record
class TaskRef:
    """A task by its unique name, which also tells the host that runs it."""

    upid: str

    @classmethod
    def parse(cls, text: str) -> TaskRef:
        """The task that a text names; ValueError where it names none."""
        if _UPID.fullmatch(text) is None:
            raise ValueError(f"{text!r} does not name a task")
        return cls(upid=text)

    @property
    def host(self) -> HostName:
        """Where the task runs, and the only host that knows how it goes."""
        return HostName(self._part("host"))

    @property
    def kind(self) -> str:
        """`qmcreate`, `imgcopy`."""
        return self._part("kind")

    @property
    def subject(self) -> str:
        """What it works on, mostly a VMID. Empty: nothing in particular."""
        return self._part("subject")

    @property
    def started(self) -> datetime:
        return datetime.fromtimestamp(int(self._part("started"), 16), UTC)

    def _part(self, name: str) -> str:
        found = _UPID.fullmatch(self.upid)
        return found[name] if found else ""

    def __str__(self) -> str:
        return self.upid


@record
class TaskState:
    """How a task stands."""

    is_running: bool
    exit_status: str = ""
    """`OK`, `WARNINGS: 2`, or what went wrong. Empty: it runs."""


@record
class TaskResult:
    """A task that ended well."""

    task: TaskRef
    warnings: int = 0


@record
class TaskSummary:
    """A row of a host's list of tasks."""

    upid: str
    kind: str
    subject: str = ""
    user: str = ""
    status: str = ""
    """`OK`, an error, or `RUNNING`."""
    started: int = 0
    """Seconds since 1970."""
    ended: int | None = None
    """Seconds since 1970. None: it runs."""


class Tasks(Protocol):
    """Tasks of all hosts."""

    async def task_state(self, task: TaskRef) -> TaskState:
        """How a task stands. `NotFound` where its host does not know it (yet)."""
        ...

    async def task_log(self, task: TaskRef, last: int = 20) -> tuple[str, ...]:
        """The last lines that a task wrote."""
        ...

    async def wait_task(self, task: TaskRef, seconds: float = 600.0) -> TaskResult:
        """Return when a task ended well.

        A task that failed raises what its words mean (`NotFound`, `Conflict`, `Locked`,
        `Rejected`, with the end of its log); one that takes longer raises `Uncertain`.
        """
        ...

    async def stop_task(self, task: TaskRef) -> None:
        """End a task in the middle of its work."""
        ...

    async def past_tasks(self, host: HostName, limit: int = 50) -> tuple[TaskSummary, ...]:
        """Tasks of a host, newest first; running ones too."""
        ...
