"""`.ci/run`, with a `make` that only notes what it is asked for."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_everything_runs_in_order(tmp_path: Path) -> None:
    ended = _run(tmp_path, fails="nothing")

    assert ended.returncode == 0
    assert _asked(tmp_path) == ["check", "test", "real"]
    assert "make real: passed in " in ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("ci: passed in ")


@pytest.mark.parametrize(
    ("fails", "ran", "left"),
    [
        ("check", ["check"], ["test", "real"]),
        ("test", ["check", "test"], ["real"]),
        ("real", ["check", "test", "real"], []),
    ],
)
def test_the_first_failure_ends_the_run(
    tmp_path: Path, fails: str, ran: list[str], left: list[str]
) -> None:
    ended = _run(tmp_path, fails=fails)

    assert ended.returncode == 1
    assert _asked(tmp_path) == ran
    assert f"make {fails}: failed after " in ended.stdout
    assert all(f"make {target}: did not run" in ended.stdout for target in left)
    assert ended.stdout.splitlines()[-1].startswith("ci: failed in ")


def _run(directory: Path, *, fails: str) -> subprocess.CompletedProcess[str]:
    make = directory / "make"
    make.write_text(f'#!/bin/sh\necho "$1" >>"{directory}/asked"\n[ "$1" != {fails} ]\n')
    make.chmod(0o755)
    return subprocess.run(
        [ROOT / ".ci" / "run"],
        env=os.environ | {"PATH": f"{directory}:{os.environ['PATH']}"},
        check=False,
        capture_output=True,
        text=True,
    )


def _asked(directory: Path) -> list[str]:
    return (directory / "asked").read_text().split()
