"""Runs on the command line."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stockman.app.completion import (
    cluster_names,
    run_names,
    stage_and_step_names,
    step_names,
    subject_names,
)
from stockman.app.runs.history import local_run_store
from stockman.app.runs.workspace import RunWorkspace
from stockman.cli.output import Exit
from stockman.cli.plans.report import exit_status
from stockman.engine.context import StopRequest
from stockman.engine.executor import RunOutcome
from stockman.engine.lifecycle import start_run
from stockman.engine.state import RunResult, RunState, StepProgress, StepState
from stockman.steps.base import Checkpoint
from stockman.steps.plan import Plan
from stockman.steps.ports import Ports
from tests.cli.inside import ran_inside
from tests.cli.kept_keys import with_keys
from tests.cli.running import REAL, Ran, on_terminal
from tests.cli.shown_terminal import ShownTerminal
from tests.engine.simulated import Dice, JumpClock
from tests.engine.test_local_lock import ANNA
from tests.engine.toys import Asleep, make, plan_of, way

Runs = Callable[..., Ran]
NOBODY_THERE = "127.213.77.0/24"
"""A run asks the API of its cluster whether somebody else holds the Lease."""
PLAN = plan_of(
    make("wait", action=Checkpoint(text="wait for the flock")),
    make("more", "wait", action=Checkpoint(text="wait for the dog")),
)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    texts = ("--preset", "single", "--network", NOBODY_THERE, "--yes")
    assert ran_inside("init", str(with_keys(tmp_path)), *texts).status == 0
    return tmp_path


@pytest.fixture
def runs(directory: Path) -> Runs:
    return lambda *words: ran_inside("-C", str(directory), "runs", *words)


def carried_out(directory: Path, plan: Plan, *, stopped: bool = False) -> str:
    """Carry a plan out, or stop after the first step; returns the name of the run."""
    clock, stop = JumpClock(), StopRequest()
    ports = Ports(clock=clock, entropy=Dice(len(run_names(directory))))
    watchers = (lambda entry: stop.request() if stopped else None,)
    workspace = RunWorkspace(directory, {}, clock, Dice("workspace"))
    home = replace(local_run_store(directory, clock), signer=workspace.signer)
    outcome = asyncio.run(start_run(home, plan, ports, way(stop, watchers=watchers)))
    return outcome.state.run


def test_runs_are_listed_with_how_they_ended(directory: Path, runs: Runs) -> None:
    name = carried_out(directory, PLAN)

    lines = runs("list").out.splitlines()

    assert lines[0].split() == ["RUN", "CLUSTER", "RESULT", "STEPS", "HELD", "STARTED", "BY"]
    assert lines[1].split()[:5] == [name, "toy", "done", "2/2", "0"]
    assert runs("list", "-o", "name").out.split() == [name]
    assert run_names(directory) == (name,)


def test_a_run_whose_plan_another_version_wrote_is_listed_and_shown(
    directory: Path, runs: Runs
) -> None:
    name = carried_out(directory, PLAN)
    plan = directory / ".stockman" / "runs" / name / "plan.json"
    plan.write_text(plan.read_text().replace("wait for the flock", "").replace('"text"', '"word"'))

    listed, seen = runs("list"), runs("show", name)

    assert listed.out.splitlines()[1].split()[:5] == [name, "toy", "done", "2/2", "0"]
    assert seen.status == 0, seen.err
    assert "more" in seen.out


def test_no_runs_are_no_mistake(runs: Runs) -> None:
    found = runs("list", "-o", "json")

    assert (found.status, json.loads(found.out)["data"]) == (0, [])
    assert "There are no runs yet." in found.err


def test_a_run_is_shown_step_by_step(directory: Path, runs: Runs) -> None:
    name = carried_out(directory, PLAN)

    shown = runs("show").out

    assert f"run {name} of cluster toy: done, 2 of 2 steps" in shown
    assert "wait for the flock" in shown
    data = json.loads(runs("show", name, "-o", "json").out)
    assert data["kind"] == "Run"
    assert [step["state"]["progress"] for step in data["data"]["steps"]] == ["done", "done"]


def test_attempts_that_failed_are_shown_with_their_problems(directory: Path, runs: Runs) -> None:
    carried_out(directory, plan_of(make("a", action=Asleep(key="a"))))

    shown, told = runs("show").out, json.loads(runs("show", "-o", "json").out)
    exported = json.loads(runs("export").out)

    assert "failed attempts:" in shown
    assert "a, attempt 3: no answer (objects.unreachable)" in shown
    (step,) = told["data"]["steps"]
    assert [failed_attempt["attempt"] for failed_attempt in step["state"]["failed_attempts"]] == [
        1,
        2,
        3,
    ]
    kept = [entry for entry in exported["data"]["journal"] if entry["event"] == "retried"]
    assert [one["data"]["problem"]["code"] for one in kept] == ["objects.unreachable"] * 2


def test_a_run_that_is_not_there_is_told(runs: Runs) -> None:
    found = runs("show", "yesterday")

    assert found.status == 1
    assert "error[run.not-found]: run yesterday does not exist" in found.err


def test_a_run_is_exported_with_plan_and_journal(directory: Path, runs: Runs) -> None:
    carried_out(directory, PLAN)

    data = json.loads(runs("export").out)

    assert data["kind"] == "RunExport"
    assert data["data"]["plan"]["schema"] == "stockman.plan/1"
    assert [entry["event"] for entry in data["data"]["journal"]][:2] == ["accepted", "finished"]


def test_a_run_that_was_stopped_is_gone_on_with(directory: Path, runs: Runs) -> None:
    name = carried_out(directory, PLAN, stopped=True)
    assert "paused" in runs("list").out

    found = runs("resume")

    result, counts = found.out.splitlines()
    assert (found.status, result.rpartition(" after ")[0]) == (0, f"run {name}: done")
    assert counts == "2 steps: 0 done, 2 unchanged, 0 failed"
    assert "run: resumed by " in found.err
    assert "more: done: no change was needed (2 of 2)" in found.err


def test_programs_get_every_entry_and_the_outcome_as_lines(directory: Path, runs: Runs) -> None:
    name = carried_out(directory, PLAN, stopped=True)

    *events, last = map(json.loads, runs("resume", "-o", "json").out.splitlines())

    assert [event["event"] for event in events][-2:] == ["finished", "ended"]
    assert (last["kind"], last["data"]["run"]) == ("RunOutcome", name)
    assert last["data"]["counts"] == {"steps": 2, "done": 0, "already": 2, "failed": 0}


def test_a_run_is_watched_on_a_terminal(directory: Path) -> None:
    name = carried_out(directory, PLAN, stopped=True)

    ran = on_terminal("-C", str(directory), "runs", "resume", columns=60, program=REAL)

    terminal = ShownTerminal(60)
    terminal.write(ran.out)
    assert ran.status == 0
    shown = re.sub(r"\d+s\b", "?s", "\n".join(terminal.lines))
    assert shown.startswith("note     resumed by ")
    assert shown.splitlines()[-4:] == [
        "already  wait for the flock: already done",
        "already  wait for the dog: already done",
        f"run {name}: done after ?s",
        "2 steps: 0 done, 2 unchanged, 0 failed",
    ]


def test_a_run_that_is_done_is_not_gone_on_with(directory: Path, runs: Runs) -> None:
    carried_out(directory, PLAN)

    found = runs("resume")

    assert found.status == 3
    assert "error[run.over]" in found.err


def test_a_run_is_not_continued_after_the_configuration_changed(
    directory: Path, runs: Runs
) -> None:
    workspace = RunWorkspace(directory, {}, JumpClock(), Dice("workspace"))
    carried_out(directory, replace(PLAN, files=workspace.files_digest), stopped=True)
    nodes = directory / "nodes.yaml"
    before = nodes.read_text("utf-8")
    nodes.write_text(before.replace("memory: ", "memory: 1", 1), "utf-8")

    changed = runs("resume")
    nodes.write_text(f"# only a comment\n{before}", "utf-8")
    same = runs("resume")

    assert changed.status == 3
    assert "run.files-changed" in changed.err
    assert "stockman apply" in changed.err
    assert "run.files-changed" not in same.err


def test_a_step_without_a_door_stops_the_run(directory: Path, runs: Runs) -> None:
    carried_out(directory, plan_of(make("a")))

    found = runs("resume")

    assert found.status == 1
    assert "error[plan.no-door]: a step needs object storage" in found.err


def test_a_run_is_given_up(directory: Path, runs: Runs) -> None:
    name = carried_out(directory, PLAN, stopped=True)

    found = runs("abort", "--yes")

    assert found.status == 0
    assert found.out.startswith(f"run {name}: aborted after ")
    assert "run: aborted by " in found.err
    assert "aborted" in runs("list").out


def test_a_run_is_not_given_up_without_a_word(directory: Path, runs: Runs) -> None:
    carried_out(directory, PLAN, stopped=True)

    assert runs("abort").status == 64
    assert "paused" in runs("list").out


def test_two_do_not_work_on_a_cluster_at_once(directory: Path, runs: Runs) -> None:
    carried_out(directory, PLAN, stopped=True)

    tenure = asyncio.run(local_run_store(directory, JumpClock()).lock.acquire(ANNA))

    found = runs("abort", "--yes")

    asyncio.run(tenure.release())
    assert found.status == 1
    assert "error[lock.held]" in found.err


def test_metrics_are_printed_or_written(directory: Path, runs: Runs, tmp_path: Path) -> None:
    carried_out(directory, PLAN)
    file = tmp_path / "stockman.prom"

    printed = runs("metrics")
    written = runs("metrics", "--textfile", str(file))

    assert 'stockman_run_progress_ratio{cluster="toy"} 1' in printed.out
    assert (written.status, written.out) == (0, "")
    assert file.read_text() == printed.out == runs("metrics", "-o", "prometheus").out
    assert json.loads(runs("metrics", "-o", "json").out)["kind"] == "RunMetrics"


@pytest.mark.parametrize(
    ("result", "step", "status"),
    [
        (RunResult.DONE, StepState(progress=StepProgress.DONE), Exit.DONE),
        (RunResult.REFUSED, StepState(), Exit.REFUSED),
        (RunResult.PAUSED, StepState(), Exit.INTERRUPTED),
        (RunResult.FAILED, StepState(progress=StepProgress.FAILED), Exit.FAILED),
        (RunResult.FAILED, StepState(progress=StepProgress.DONE), Exit.PARTLY),
        (RunResult.FAILED, StepState(progress=StepProgress.DONE, already=True), Exit.FAILED),
    ],
)
def test_the_exit_status_says_how_a_run_ended(
    result: RunResult, step: StepState, status: Exit
) -> None:
    outcome = RunOutcome(state=RunState(run="one", steps={"a": step}), result=result)

    assert exit_status(outcome) is status


def test_shells_complete_steps_out_of_the_newest_run(directory: Path) -> None:
    assert step_names(directory) == ()
    carried_out(directory, PLAN)

    assert step_names(directory) == ("wait", "more")
    assert stage_and_step_names(directory)[-3:] == ("kubernetes", "wait", "more")
    assert subject_names(directory) == ("talos-1",)
    assert cluster_names(directory) == ("single",)


def test_shells_complete_nothing_where_nothing_can_be_read(tmp_path: Path) -> None:
    assert (subject_names(tmp_path), cluster_names(tmp_path), step_names(tmp_path)) == ((), (), ())
