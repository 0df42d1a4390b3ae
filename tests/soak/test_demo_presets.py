"""The demo with every preset, from nothing to an empty plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.steps import DEMO_PRESETS, command_lines
from tests.demo.test_steps import shown_commands
from tests.real.test_demo_judged import PATIENCE, start_demo


@pytest.mark.parametrize("preset", DEMO_PRESETS)
def test_the_demo_succeeds_with_every_preset_and_leaves_nothing(
    tmp_path: Path, preset: str
) -> None:
    process = start_demo(tmp_path, "--preset", preset)
    output, _ = process.communicate(timeout=PATIENCE)

    assert process.returncode == 0, output[-2000:]
    commands = shown_commands(output.split("\n"))
    assert commands == command_lines(DEMO_PRESETS[preset], commands[0].rpartition(" ")[2])
    assert "No changes. The cluster matches the configuration." in output
    assert list(tmp_path.glob("stockman-demo-*")) == []
