"""Calls on tasks, and waiting for them on the host that they name."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime

from stockman.model.errors import NotFound, StockmanError, Uncertain
from stockman.model.names import HostName
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.ports.system import Timekeeper
from stockman.proxmox.calls.base import Calls, Path
from stockman.proxmox.errors import clean_text, error_from_text
from stockman.proxmox.rows import mapping, read_record, row_list, text
from stockman.proxmox.tasks import TaskRef, TaskResult, TaskState, TaskSummary
from stockman.proxmox.transport import Request, Transport

_WARNINGS = re.compile(r"WARNINGS: (\d+)")
_KILLED = ("unexpected status", "received interrupt")
_PAST = {"kind": "type", "subject": "id", "started": "starttime", "ended": "endtime"}
_TAIL = 5


@record
class PollPolicy:
    """How tasks are waited for."""

    shortest: float = 0.02
    """Seconds between two looks at first."""
    each: float = 0.01
    """Seconds between two looks at a host, whichever of its tasks they are about."""
    share: float = 0.015
    """How much longer than it has run so far a task may seem to take: looks become rarer."""
    longest: float = 1.0
    """Seconds between two looks in the end."""
    unseen: float = 10.0
    """Seconds for which a host may not know yet of a task that it has just been given."""

    def wait(self, ran: float, tasks: int = 1) -> float:
        """Seconds until the next look at a task that has run so long, one of so many on a host."""
        return max(self.each * tasks, min(max(self.shortest, self.share * ran), self.longest))


class TaskCalls(Calls):
    """`ports.proxmox.tasks.Tasks` over a wire."""

    def __init__(
        self,
        wire: Transport,
        clock: Timekeeper,
        patience: PollPolicy = PollPolicy(),  # noqa: B008  # a frozen record
    ) -> None:
        super().__init__(wire, clock)
        self._patience = patience
        self._waited_for: Counter[HostName] = Counter()

    async def task_state(self, task: TaskRef) -> TaskState:
        return await self._get(_path(task, "status"), _state)

    async def task_log(self, task: TaskRef, last: int = 20) -> tuple[str, ...]:
        first = Request(method="GET", segments=_path(task, "log"), parameters={"limit": 1})
        total = (await self._wire.call(first)).total or 0
        rows = await self._get(
            _path(task, "log"), row_list, {"start": max(0, total - last), "limit": last}
        )
        return tuple(clean_text(text(row.get("t", ""))) for row in rows)

    async def wait_task(self, task: TaskRef, seconds: float = 600.0) -> TaskResult:
        self._waited_for[task.host] += 1
        try:
            state = await self._end_of(task, seconds)
        finally:
            self._waited_for[task.host] -= 1
        return await self._ended(task, state.exit_status)

    async def _end_of(self, task: TaskRef, seconds: float) -> TaskState:
        begun = self._clock.now()
        while True:
            state = await self._look(task, begun)
            if state is not None and not state.is_running:
                return state
            wait = self._patience.wait(self._since(begun), self._waited_for[task.host])
            if self._since(begun) + wait > seconds:
                raise Uncertain(_timeout_problem(task, seconds))
            await self._clock.sleep(wait)

    async def stop_task(self, task: TaskRef) -> None:
        await self._do("DELETE", _path(task))

    async def past_tasks(self, host: HostName, limit: int = 50) -> tuple[TaskSummary, ...]:
        return await self._rows(
            ("nodes", host, "tasks"),
            lambda row: read_record(TaskSummary, row, _PAST),
            {"source": "all", "limit": limit},
        )

    async def _look(self, task: TaskRef, begun: datetime) -> TaskState | None:
        try:
            return await self.task_state(task)
        except NotFound:
            if self._since(begun) >= self._patience.unseen:
                raise
            return None

    async def _ended(self, task: TaskRef, exit_status: str) -> TaskResult:
        warnings = _WARNINGS.fullmatch(exit_status)
        if exit_status == "OK" or warnings is not None:
            return TaskResult(task=task, warnings=int(warnings[1]) if warnings else 0)
        raise await self._failure(task, clean_text(exit_status))

    async def _failure(self, task: TaskRef, exit_status: str) -> StockmanError:
        try:
            log = await self.task_log(task, _TAIL)
        except StockmanError as error:
            log = (f"its log cannot be read: {error.problem.why}",)
        if exit_status in _KILLED:
            return Uncertain(_interruption_problem(task, exit_status, log))
        meant = error_from_text(exit_status, where=str(task))
        return type(meant)(_failure_problem(task, exit_status, log, meant.problem))

    def _since(self, begun: datetime) -> float:
        return (self._clock.now() - begun).total_seconds()


def _path(task: TaskRef, *more: str) -> Path:
    return ("nodes", task.host, "tasks", task.upid, *more)


def _state(data: object) -> TaskState:
    row = mapping(data)
    return TaskState(
        is_running=text(row.get("status", "")) == "running",
        exit_status=text(row.get("exitstatus", "")),
    )


def _failure_problem(
    task: TaskRef, exit_status: str, log: tuple[str, ...], meant: Problem
) -> Problem:
    return Problem(
        code="proxmox.task-failed",
        what=f"the task {_describe(task)} failed",
        where=task.upid,
        why=_task_reason(exit_status, log),
        fix=meant.fix,
    )


def _interruption_problem(task: TaskRef, exit_status: str, log: tuple[str, ...]) -> Problem:
    return Problem(
        code="proxmox.unknown-outcome",
        what=f"the task {_describe(task)} was ended in the middle of its work",
        where=task.upid,
        why=_task_reason(exit_status, log),
        fix="look at what it worked on before doing it again",
    )


def _timeout_problem(task: TaskRef, seconds: float) -> Problem:
    return Problem(
        code="proxmox.task-late",
        what=f"the task {_describe(task)} has not ended in time",
        where=task.upid,
        why=f"it still runs after {seconds:g} s",
        fix="wait for it in the task list of the host, then run this again",
    )


def _describe(task: TaskRef) -> str:
    return f"{task.kind} {task.subject} on {task.host}".replace("  ", " ")


def _task_reason(exit_status: str, log: tuple[str, ...]) -> str:
    reason = exit_status or "it does not say why"
    return "; ".join([reason, *(line for line in log if line and reason not in line)])
