"""Tasks: operations that Proxmox VE runs in the background."""

from __future__ import annotations

import re
from datetime import UTC, datetime

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
    """A task by its unique id (UPID), which contains the host that runs it."""

    upid: str

    @classmethod
    def parse(cls, text: str) -> TaskRef:
        """Parse a UPID; raises ValueError."""
        if _UPID.fullmatch(text) is None:
            raise ValueError(f"{text!r} is not a task id")
        return cls(upid=text)

    @property
    def host(self) -> HostName:
        """The host that runs the task; only this host knows its state."""
        return HostName(self._part("host"))

    @property
    def kind(self) -> str:
        """`qmcreate`, `imgcopy`."""
        return self._part("kind")

    @property
    def subject(self) -> str:
        """The object of the task, usually a VMID. Empty: none."""
        return self._part("subject")

    @property
    def started(self) -> datetime:
        return datetime.fromtimestamp(int(self._part("started"), 16), UTC)

    def _part(self, name: str) -> str:
        match = _UPID.fullmatch(self.upid)
        return match[name] if match else ""

    def __str__(self) -> str:
        return self.upid


@record
class TaskState:
    """The state of a task."""

    is_running: bool
    exit_status: str = ""
    """`OK`, `WARNINGS: 2`, or an error message. Empty: the task is running."""


@record
class TaskResult:
    """The result of a successful task."""

    warnings: int = 0


@record
class TaskSummary:
    """An entry of the task list of a host."""

    upid: str
    kind: str
    subject: str = ""
    user: str = ""
    status: str = ""
    """`OK`, an error, or `RUNNING`."""
    started: int = 0
    """Unix time."""
    ended: int | None = None
    """Unix time. None: the task is running."""
