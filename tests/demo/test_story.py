"""The demo as a user meets it: without a terminal, and in the picture that the README shows."""

import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from demo.picture import lines_of
from demo.stage import Called, Unexpected, play
from demo.story import STORY, Edit, Enter, Run, command_lines
from tests.docs.consoles import commands
from tests.docs.pages import DOCS, ROOT, blocks

PICTURE = DOCS / "_static" / "demo.svg"
PATIENCE = 60


def typed(lines: list[str]) -> list[str]:
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def test_the_demo_runs_without_a_terminal_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "demo"],
        cwd=ROOT,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(ROOT / "src"),
            "TMPDIR": str(tmp_path),
            "STOCKMAN_OUTPUT": "json",
            "STOCKMAN_DIR": "/nowhere",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert typed(done.stdout.split("\n")) == command_lines()
    assert "error[vm.vmid-taken]" in done.stdout
    assert "error[address.outside-network]" in done.stdout
    assert "(class worker-gpu)" in done.stdout
    assert "\x1b" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_surprise_stops_the_demo() -> None:
    def failing(called: Called, console: Console) -> int:
        del called, console
        return 70

    with pytest.raises(Unexpected, match="ended with 70 instead of 0"):
        play(STORY, Console(file=StringIO()), failing)


def test_a_line_that_is_not_there_stops_the_demo(tmp_path: Path) -> None:
    def writing(called: Called, console: Console) -> int:
        del console
        (called.directory / "lab").mkdir()
        (called.directory / "lab" / "nodes.yaml").write_text("nodes: []\n")
        return 0

    scenes = (Run("init lab"), Enter("lab"), Edit("nodes.yaml", "vmid: 1", "vmid: 2"))

    with pytest.raises(Unexpected, match="vmid: 1"):
        play(scenes, Console(file=StringIO()), writing)


def test_the_picture_shows_the_commands_of_the_demo() -> None:
    lines = lines_of(PICTURE.read_text("utf-8"))

    assert typed(lines) == command_lines(), "make it anew: python -m demo --record " + str(
        PICTURE.relative_to(ROOT)
    )


def test_the_picture_needs_nothing_from_outside() -> None:
    text = PICTURE.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")

    assert re.findall(r"https?:|url\((?!#)|@import|<script|<image|xlink", text) == []


def test_the_tutorial_follows_the_demo() -> None:
    tutorial = DOCS / "tutorial.md"
    lines = [
        step.command
        for block in blocks(tutorial)
        if block.language == "console"
        for step in commands(block)
        if step.command.startswith(("stockman ", "cd "))
    ]

    assert lines == command_lines()
