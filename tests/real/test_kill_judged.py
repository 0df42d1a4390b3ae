"""A run whose process is killed with signal 9 again and again is finished by the next one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from stockman.engine.journal import parse_journal
from stockman.engine.state import RunResult, fold_entries

ROOT = Path(__file__).parents[2]
MOMENTS = (0.0, 0.004, 0.01, 0.02, 0.035, 0.05, 0.07, 0.09, 0.12, 0.15)
"""Seconds after which a process is killed."""


def started(directory: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.real.killed_run", directory],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
    )


def killed(directory: Path, after: float) -> int:
    with started(directory) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after)  # noqa: TID251  # a real process is killed in real time
        process.kill()
    return process.returncode


def test_nothing_is_done_twice_and_everything_is_given_back(tmp_path: Path) -> None:
    (tmp_path / "flag-red").write_text("up")

    ends = [killed(tmp_path, moment) for moment in MOMENTS]
    with started(tmp_path) as process:
        process.communicate()

    assert -9 in ends
    assert process.returncode == 0
    made = {file.name: file.read_text() for file in tmp_path.iterdir() if file.is_file()}
    effects = {f"s{number}": "made\n" for number in range(6)} | {"last": "made\n"}
    assert made == {"flag-red": "up", **effects}
    journals = sorted(tmp_path.glob(".stockman/runs/*/journal.jsonl"))
    states = [
        fold_entries("run", parse_journal(file.read_bytes(), str(file))[0]) for file in journals
    ]
    assert states[-1].result is RunResult.DONE
    assert not any(state.held for state in states)
