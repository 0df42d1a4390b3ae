"""Restarts that wait for their window, and everything else that does not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from stockman.app.runs.apply import waits_for_window
from stockman.app.runs.plans import PlanOptions
from stockman.engine.state import RunResult
from tests.acceptance.reference import reference
from tests.acceptance.scene import PUSHING, Life, Scene

RESTART = "vms/restart/talos-neo"


def rework(root: Path, in_hours: int) -> Scene:
    """Other hardware for a controller, and a window that opens after some hours."""
    scene = reference().rework(root)
    opens = datetime.fromtimestamp(scene.world.now, UTC) + timedelta(hours=in_hours)
    window = f"{{start: '{opens.minute} {opens.hour} * * *', duration: 2h}}"
    scene.files.append("cluster.yaml", f"\nupgrade: {{windows: [{window}]}}\n")
    return scene


def restarts(life: Life) -> list[str]:
    return [str(write) for write in life.process.writes if "/status/" in str(write)]


def test_outside_of_windows_all_but_the_restart_is_done_and_the_run_goes_on_in_one(
    tmp_path: Path,
) -> None:
    scene = rework(tmp_path, in_hours=5)

    early = scene.apply()

    assert early.planned is not None
    assert early.outcome is not None
    assert [problem.code for problem in early.planned.problems] == ["plan.outside-windows"]
    assert early.outcome.result is RunResult.REFUSED
    assert waits_for_window(early.outcome)
    assert restarts(early) == []
    assert scene.state().step("vms/configure/talos-neo").progress.value == "done"
    assert scene.state().held == {}

    scene.world.advance(5.5 * 3600)
    late = scene.resume()

    assert late.is_done, late.why
    assert restarts(late) != []
    assert scene.plan().plan.steps == ()


def test_in_a_window_a_restart_is_done_at_once(tmp_path: Path) -> None:
    life = rework(tmp_path, in_hours=-1).apply()

    assert life.is_done, life.why
    assert restarts(life) != []


def test_whoever_says_so_need_not_wait(tmp_path: Path) -> None:
    plan_options = PlanOptions(push=PUSHING.push, any_time=True)

    life = rework(tmp_path, in_hours=5).apply(wish=plan_options)

    assert life.planned is not None
    assert life.is_done, life.why
    assert list(life.planned.problems) == []
