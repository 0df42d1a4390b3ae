"""Metrics of runs are judged by Prometheus' own checker."""

from __future__ import annotations

import subprocess

import pytest

from stockman.steps.plan import Plan
from tests.app.run_metrics_scene import FAILS, WAITS, carried_out, metrics_text
from tests.engine.toys import Scene, make, plan_of
from tools.pytest_plugin import RealTool


def judged(tool: RealTool, text: str) -> str:
    """What promtool has to say of metrics; nothing where they are as they should be."""
    checked = subprocess.run(
        [tool("promtool"), "check", "metrics"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    stdout = checked.stdout + checked.stderr
    return stdout if stdout or checked.returncode == 0 else f"status {checked.returncode}"


@pytest.mark.parametrize("plans", [(), (plan_of(make("a")),), (FAILS, WAITS)])
def test_promtool_finds_nothing_wrong(real_tool: RealTool, plans: tuple[Plan, ...]) -> None:
    scene = Scene()
    for plan in plans:
        carried_out(scene, plan)

    assert judged(real_tool, metrics_text(scene)) == ""


def test_promtool_would_say_so(real_tool: RealTool) -> None:
    assert "error while linting" in judged(real_tool, 'stockman_runs{cluster="a} 1\n')
    assert "no help text" in judged(real_tool, "# TYPE stockman_runs gauge\nstockman_runs 1\n")
