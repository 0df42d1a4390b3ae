"""The end of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from stockman.app.runs.apply import PUSHED
from stockman.cli.output import Exit
from stockman.cli.plans.report import RunResult as Ended
from stockman.cli.plans.report import exit_status, result_lines, run_result_data
from stockman.cli.terminal.screen import Screen
from stockman.engine.executor import RunOutcome
from stockman.engine.lifecycle import start_run
from stockman.engine.state import RunResult, RunState, StepProgress, StepState, TakenHold
from stockman.steps.plan import Plan
from tests.cli.test_screen import Terminal
from tests.engine.simulated import MORNING
from tests.engine.toys import ONE_AT_A_TIME, Break, Exists, Later, Scene, make, plan_of, way

IN_A_PIPE = Screen(None, None, None, {})
BREAKS = plan_of(
    make("a", seconds=20.0), make("b", seconds=9.0, action=Break(key="b")), make("c", "b")
)


def ended(plan: Plan, texts: Sequence[str] = ()) -> Ended:
    """How a run of toys ends, in a world where some are made already."""
    scene = Scene()
    scene.world.content |= dict.fromkeys(texts, b"made")
    home, ports = scene.process()
    outcome = asyncio.run(start_run(home, plan, ports, way(settings=ONE_AT_A_TIME)))
    return Ended(outcome=outcome, plan=plan, seconds=252.0)


def test_a_run_that_failed_says_what_is_left_and_how_to_go_on() -> None:
    end = ended(BREAKS, texts=["a"])
    run = end.outcome.state.run

    assert list(result_lines(end, IN_A_PIPE)) == [
        f"run {run}: failed after 4m12s",
        "3 steps: 0 done, 1 unchanged, 1 failed, 1 not finished",
        "",
        "  # resume after fixing the problems above",
        f"  stockman runs resume {run}",
        "  # abort the run and release its holds",
        f"  stockman runs abort {run}",
    ]


def test_a_run_that_is_done_needs_nothing_more() -> None:
    end = ended(plan_of(make("a"), make("b")))

    assert list(result_lines(end, IN_A_PIPE)) == [
        f"run {end.outcome.state.run}: done after 4m12s",
        "2 steps: 2 done, 0 unchanged, 0 failed",
    ]


@pytest.mark.parametrize("columns", [40, 80])
def test_the_end_fits_the_terminal(columns: int) -> None:
    screen = Screen(None, Terminal(), None, {"COLUMNS": str(columns)})

    assert all(len(line) <= columns for line in result_lines(ended(BREAKS), screen))


def test_what_is_still_held_is_told_by_its_name() -> None:
    flag = {"kind": "test.flag", "name": "red"}
    held = {
        "k": TakenHold(key="k", hold=flag, prior="up", since=MORNING),
        "l": TakenHold(key="strange:1", hold={"kind": "strange"}, prior=None, since=MORNING),
    }
    outcome = RunOutcome(state=RunState(run="one", held=held), result=RunResult.ABORTED)

    assert list(result_lines(Ended(outcome=outcome, plan=plan_of(), seconds=0.0), IN_A_PIPE))[
        2:
    ] == [
        "hold not released: flag red is down",
        "hold not released: strange:1",
    ]


@pytest.mark.parametrize(
    ("plan", "result", "code"),
    [
        (BREAKS, "failed", "objects.unreachable"),
        (plan_of(make("a", gates=(Exists(key="z", never=True),))), "refused", "run.gate"),
    ],
)
def test_programs_get_problems_and_what_to_do_next(plan: Plan, result: str, code: str) -> None:
    data = run_result_data(ended(plan))

    assert data["result"].value == result
    assert [problem["code"] for problem in data["problems"]] == [code]
    assert data["next"][0] == f"stockman runs resume {data['run']}"


def test_a_run_that_waits_for_a_push_says_how_to_commit_and_go_on() -> None:
    end = ended(plan_of(make(PUSHED, action=Break(key="b"))))
    run = end.outcome.state.run

    assert list(result_lines(end, IN_A_PIPE))[3:] == [
        "  # commit and push the rendered files for Flux",
        '  git add --all && git commit -m "Render" && git push',
        "  # then resume the run",
        f"  stockman runs resume {run}",
        "  # or let stockman commit and push",
        "  stockman apply --push",
    ]


def test_a_run_that_waits_for_a_window_says_when_to_go_on() -> None:
    end = ended(plan_of(make("a", gates=(Later(key="z"),)), make("b")))
    run = end.outcome.state.run

    assert exit_status(end.outcome) is Exit.CHANGES
    assert list(result_lines(end, IN_A_PIPE))[3:] == [
        "  # resume when the upgrade window is open",
        f"  stockman runs resume {run}",
        "  # or restart machines now",
        "  stockman apply --any-time",
    ]


def test_a_run_that_was_stopped_at_once_says_in_the_middle_of_what() -> None:
    steps = {
        "a": StepState(progress=StepProgress.RUNNING),
        "b": StepState(progress=StepProgress.DONE),
    }
    state = RunState(run="one", steps=steps)
    outcome = RunOutcome(state=state, result=RunResult.PAUSED)
    end = Ended(outcome=outcome, plan=plan_of(make("a"), make("b")), seconds=0.0)

    assert "interrupted during: make a (a)" in list(result_lines(end, IN_A_PIPE))
    assert run_result_data(end)["in_the_middle"] == ["make a (a)"]
