"""Restarts wait for their window over the wire, too, and everything else does not.

A machine is restarted for that: tests that look at it have to come before this one.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from tests.real.apply import stories
from tests.real.apply.herd import APPLY, Made
from tests.real.apply.scene import CLOCK, writes
from tools.pytest_plugin import RealTool

_SIX_HOURS = timedelta(hours=6)


@pytest.mark.parametrize("cluster", ["8.4"])
def test_a_restart_waits_for_its_window(cluster: str, made: Made, real_tool: RealTool) -> None:
    scene = made.scene
    nodes, wishes = scene.directory / "nodes.yaml", scene.directory / "cluster.yaml"
    written = wishes.read_text()
    machine = nodes.read_text()
    nodes.write_text(machine.replace("host: neo}", "host: neo, cores: 6}"))
    assert nodes.read_text() != machine
    wishes.write_text(written + _window(CLOCK.now() + _SIX_HOURS))
    before = len(scene.requests())

    early = scene.stockman(*APPLY)

    asked = writes(scene.requests()[before:])
    assert early.status == 2, early
    assert "plan.outside-windows" in early.err
    assert any("/config" in one for one in asked), asked
    assert [one for one in asked if "/status/" in one] == []

    wishes.write_text(written + _window(CLOCK.now() - timedelta(hours=1)))
    before = len(scene.requests())
    made.ran = scene.stockman(*APPLY)

    restarted = [write for write in writes(scene.requests()[before:]) if "/status/" in write]
    assert [one.rpartition("/qemu/")[2] for one in restarted] == ["1031/status/reboot"]
    stories.the_second_run_changes_nothing(made)
    stories.kubectl_finds_ready_nodes(made, real_tool)


def _window(opens: datetime) -> str:
    """Two hours of every day."""
    start = f"{opens.minute} {opens.hour} * * *"
    return f"\nupgrade: {{windows: [{{start: '{start}', duration: 2h}}]}}\n"
