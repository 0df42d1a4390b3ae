"""Waiting for tasks."""

import pytest

from stockman.model.errors import Conflict, Locked, NotFound, Rejected, Uncertain, Unreachable
from stockman.proxmox.tasks import TaskRef, TaskResult
from tests.adapters.http_proxmox.scripted import Answer, Asked, ScriptedServer, wrong
from tests.adapters.http_proxmox.talking import SimulatedClock, talk, trouble

TASK = TaskRef.parse("UPID:pve2:0003F1A2:01B2C3D4:70DBD880:qmclone:9000:stockman@pve!main:")
RUNNING = Answer({"upid": TASK.upid, "status": "running", "pid": 258466})
UNKNOWN = wrong(upid="no such task")


def ended(exit_status: str) -> Answer:
    return Answer({"upid": TASK.upid, "status": "stopped", "exitstatus": exit_status})


def waited(
    *states: Answer, clock: SimulatedClock | None = None, seconds: float = 600
) -> TaskResult:
    """What waiting comes to when the host tells these states, the last one again and again."""
    script = list(states)
    server = ScriptedServer(lambda asked: _told(asked, script))
    return talk(server, lambda pve: pve.wait_task(TASK, seconds), clock=clock)


def _told(request: Asked, script: list[Answer]) -> Answer:
    assert request.path.startswith(f"/nodes/pve2/tasks/{TASK.upid}/")
    if request.path.endswith("/log"):
        lines = [f"line {n}" for n in range(1, 40)] + ["TASK ERROR: it broke"]
        start, limit = int(request.values.get("start", "0")), int(request.values["limit"])
        rows = [{"n": n, "t": text} for n, text in enumerate(lines, 1)][start : start + limit]
        return Answer(rows, more={"total": len(lines)})
    return script.pop(0) if len(script) > 1 else script[0]


def test_a_task_is_asked_after_on_the_host_that_it_names() -> None:
    assert waited(ended("OK")) == TaskResult()


def test_looks_become_rarer_until_they_are_a_second_apart() -> None:
    clock = SimulatedClock()

    waited(*[RUNNING] * 400, ended("OK"), clock=clock)

    assert clock.slept[:2] == [0.2, 0.2]
    assert clock.slept == sorted(clock.slept)
    assert clock.slept[-1] == 1.0


def test_warnings_are_counted_and_no_failure() -> None:
    assert waited(ended("WARNINGS: 2")).warnings == 2


def test_a_task_that_is_not_known_yet_is_waited_for() -> None:
    clock = SimulatedClock()

    waited(UNKNOWN, UNKNOWN, ended("OK"), clock=clock)

    assert clock.slept == [0.2, 0.2]


def test_a_task_that_stays_unknown_is_not_found() -> None:
    clock = SimulatedClock()

    trouble(NotFound, lambda: waited(UNKNOWN, clock=clock))

    assert 9.0 <= sum(clock.slept) <= 11.0


def test_a_task_that_runs_on_is_given_up_and_uncertain() -> None:
    clock = SimulatedClock()

    problem = trouble(Uncertain, lambda: waited(RUNNING, clock=clock, seconds=5))

    assert problem.code == "proxmox.task-late"
    assert sum(clock.slept) <= 5


def test_a_task_that_was_killed_is_uncertain() -> None:
    problem = trouble(Uncertain, lambda: waited(ended("unexpected status")))

    assert problem.code == "proxmox.unknown-outcome"


@pytest.mark.parametrize(
    ("exit_status", "kind"),
    [
        ("clone failed: it broke", Rejected),
        ("VM 100 already running", Conflict),
        ("refusing to override existing file '/var/lib/vz/import/a.qcow2'", Conflict),
        ("can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout", Locked),
        ("Configuration file 'nodes/pve2/qemu-server/100.conf' does not exist", NotFound),
        ("cluster not ready - no quorum?", Unreachable),
        ("", Rejected),
        ("WARNINGS: many", Rejected),
    ],
)
def test_a_task_that_failed_means_what_it_says(
    exit_status: str, kind: type[Rejected | Conflict | NotFound | Unreachable]
) -> None:
    problem = trouble(kind, lambda: waited(ended(exit_status)))

    assert problem.code == "proxmox.task-failed"
    assert exit_status in problem.why
    assert problem.why.endswith("line 39; TASK ERROR: it broke")
    assert "line 35" not in problem.why


def test_a_host_that_goes_away_while_one_waits_is_told() -> None:
    gone = Answer(status=595, reason="No route to host", raw=b"")

    problem = trouble(Unreachable, lambda: waited(RUNNING, gone))

    assert problem.code == "proxmox.host-down"
    assert "pve2" in problem.what


def test_the_end_of_a_log_is_read() -> None:
    server = ScriptedServer(lambda asked: _told(asked, []))

    assert talk(server, lambda pve: pve.task_log(TASK, 2)) == ("line 39", "TASK ERROR: it broke")
