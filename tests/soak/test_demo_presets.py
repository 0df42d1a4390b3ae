"""The demo with every preset, from nothing to a plan that is empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.story import CASTS, command_lines
from tests.demo.test_story import shown_commands
from tests.real.test_demo_judged import PATIENCE, begun


@pytest.mark.parametrize("preset", CASTS)
def test_every_preset_is_brought_up_and_leaves_nothing(tmp_path: Path, preset: str) -> None:
    process = begun(tmp_path, "--preset", preset)
    told, _ = process.communicate(timeout=PATIENCE)

    assert process.returncode == 0, told[-2000:]
    typed = shown_commands(told.split("\n"))
    assert typed == command_lines(CASTS[preset], typed[0].rpartition(" ")[2])
    assert "nothing to do: everything is as the configuration says" in told
    assert [one for one in tmp_path.iterdir() if one.name.startswith("stockman-demo-")] == []
