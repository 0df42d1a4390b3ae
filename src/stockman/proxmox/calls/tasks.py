"""Calls on tasks, and waiting for them on the host that they name."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime

from stockman.model.errors import NotFound, StockmanError, Uncertain
from stockman.model.names import HostName
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import clean_text
from stockman.ports.system import Timekeeper
from stockman.proxmox.calls.base import Calls, Path
from stockman.proxmox.errors import error_from_text
from stockman.proxmox.rows import mapping, read_record, row_list, text
from stockman.proxmox.tasks import TaskRef, TaskResult, TaskState, TaskSummary
from stockman.proxmox.transport import Request, Transport

_WARNINGS = re.compile(r"WARNINGS: (\d+)")
_KILLED = ("unexpected status", "received interrupt")
_PAST = {"kind": "type", "subject": "id", "started": "starttime", "ended": "endtime"}
_TAIL = 5


@record
class PollPolicy:
    """How often the state of a running task is polled."""

    initial: float = 0.2
    """Initial interval between polls of a task, in seconds."""
    per_host: float = 0.02
    """Minimum interval between polls of one host, over all of its tasks, in seconds."""
    growth: float = 0.05
    """Interval as a fraction of the time that the task has been running."""
    maximum: float = 1.0
    """Maximum interval between polls of a task, in seconds."""
    start_grace: float = 10.0
    """Seconds after its start during which a host may not know a task yet."""

    def wait(self, ran: float, tasks: int = 1) -> float:
        """Return the interval before the next poll of a task that has run for `ran` seconds."""
        return max(self.per_host * tasks, min(max(self.initial, self.growth * ran), self.maximum))


class TaskCalls(Calls):
    """Tasks."""

    def __init__(
        self,
        transport: Transport,
        clock: Timekeeper,
        polling: PollPolicy = PollPolicy(),  # noqa: B008  # a frozen record
    ) -> None:
        super().__init__(transport, clock)
        self._polling = polling
        self._waiters: Counter[HostName] = Counter()

    async def task_state(self, task: TaskRef) -> TaskState:
        """Return the state of a task; raises `NotFound` if its host does not know it (yet)."""
        return await self._get(_path(task, "status"), _state)

    async def task_log(self, task: TaskRef, last: int = 20) -> tuple[str, ...]:
        """Return the last lines of the log of a task."""
        first = Request(method="GET", segments=_path(task, "log"), parameters={"limit": 1})
        total = (await self._transport.call(first)).total or 0
        rows = await self._get(
            _path(task, "log"), row_list, {"start": max(0, total - last), "limit": last}
        )
        return tuple(clean_text(text(row.get("t", ""))) for row in rows)

    async def wait_task(self, task: TaskRef | None, seconds: float = 600.0) -> TaskResult:
        """Wait until a task has succeeded; None is the task of a call that is already complete.

        A failed task raises the error that its message means (`NotFound`, `Conflict`, `Locked`
        or `Rejected`, with the end of its log); a task that takes too long raises `Uncertain`.
        """
        if task is None:
            return TaskResult()
        self._waiters[task.host] += 1
        try:
            state = await self._wait_for_end(task, seconds)
        finally:
            self._waiters[task.host] -= 1
        return await self._task_result(task, state.exit_status)

    async def _wait_for_end(self, task: TaskRef, seconds: float) -> TaskState:
        started = self._clock.now()
        while True:
            state = await self._poll(task, started)
            if state is not None and not state.is_running:
                return state
            wait = self._polling.wait(self._seconds_since(started), self._waiters[task.host])
            if self._seconds_since(started) + wait > seconds:
                raise Uncertain(_timeout_problem(task, seconds))
            await self._clock.sleep(wait)

    async def past_tasks(self, host: HostName, limit: int = 50) -> tuple[TaskSummary, ...]:
        """List the tasks of a host, newest first, including running ones."""
        return await self._rows(
            ("nodes", host, "tasks"),
            lambda row: read_record(TaskSummary, row, _PAST),
            {"source": "all", "limit": limit},
        )

    async def _poll(self, task: TaskRef, started: datetime) -> TaskState | None:
        try:
            return await self.task_state(task)
        except NotFound:
            if self._seconds_since(started) >= self._polling.start_grace:
                raise
            return None

    async def _task_result(self, task: TaskRef, exit_status: str) -> TaskResult:
        warnings = _WARNINGS.fullmatch(exit_status)
        if exit_status == "OK" or warnings is not None:
            return TaskResult(warnings=int(warnings[1]) if warnings else 0)
        raise await self._failure(task, clean_text(exit_status))

    async def _failure(self, task: TaskRef, exit_status: str) -> StockmanError:
        try:
            log = await self.task_log(task, _TAIL)
        except StockmanError as error:
            log = (f"cannot read its log: {error.problem.why}",)
        if exit_status in _KILLED:
            return Uncertain(_interruption_problem(task, exit_status, log))
        error_class = error_from_text(exit_status, where=str(task))
        return type(error_class)(_failure_problem(task, exit_status, log, error_class.problem))

    def _seconds_since(self, started: datetime) -> float:
        return (self._clock.now() - started).total_seconds()


def _path(task: TaskRef, *more: str) -> Path:
    return ("nodes", task.host, "tasks", task.upid, *more)


def _state(data: object) -> TaskState:
    row = mapping(data)
    return TaskState(
        is_running=text(row.get("status", "")) == "running",
        exit_status=text(row.get("exitstatus", "")),
    )


def _failure_problem(
    task: TaskRef, exit_status: str, log: tuple[str, ...], cause: Problem
) -> Problem:
    return Problem(
        code="proxmox.task-failed",
        what=f"the task {_describe(task)} failed",
        where=task.upid,
        why=_task_reason(exit_status, log),
        fix=cause.fix,
    )


def _interruption_problem(task: TaskRef, exit_status: str, log: tuple[str, ...]) -> Problem:
    return Problem(
        code="proxmox.unknown-outcome",
        what=f"the task {_describe(task)} was interrupted",
        where=task.upid,
        why=_task_reason(exit_status, log),
        fix="check the state of its object before you run it again",
    )


def _timeout_problem(task: TaskRef, seconds: float) -> Problem:
    return Problem(
        code="proxmox.task-late",
        what=f"the task {_describe(task)} did not finish in time",
        where=task.upid,
        why=f"it is still running after {seconds:g} s",
        fix="wait for it in the task list of the host, then run the command again",
    )


def _describe(task: TaskRef) -> str:
    return f"{task.kind} {task.subject} on {task.host}".replace("  ", " ")


def _task_reason(exit_status: str, log: tuple[str, ...]) -> str:
    reason = exit_status or "the task reports no reason"
    return "; ".join([reason, *(line for line in log if line and reason not in line)])
