"""Tests against real programs share workers as `tests/real/conftest.py` says."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTING = """\
import os
from pathlib import Path

import pytest


@pytest.mark.parametrize("number", range(4))
def test_something(number, record_property):
    with Path(__file__).parents[{up}].joinpath("noted").open("a") as noted:
        noted.write(f"{{Path(__file__).stem}} {{os.environ['PYTEST_XDIST_WORKER']}}\\n")
    record_property("measured", number)
"""
TOGETHER = ("test_talosctl_etcd", "test_talosctl_power")
FILES = ("test_age", *TOGETHER, "test_cue", "apply/test_first", "apply/test_second")


def test_what_shares_addresses_or_a_folder_shares_a_worker(tmp_path: Path) -> None:
    (tmp_path / "apply").mkdir()
    shutil.copy(ROOT / "tests" / "real" / "conftest.py", tmp_path)
    for name in FILES:
        tmp_path.joinpath(f"{name}.py").write_text(NOTING.format(up=name.count("/")))

    stdout = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-c", "/dev/null", "-p", "no:cacheprovider", "-q"),
            *("--rootdir", tmp_path, "--numprocesses=2", "--dist=loadscope"),
            *("--no-loadscope-reorder", tmp_path),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    lines = [line.split() for line in (tmp_path / "noted").read_text().splitlines()]
    workers = {name: {worker for file, worker in lines if file == name} for name, _ in lines}
    assert len(lines) == 4 * len(FILES)
    assert all(len(worker) == 1 for worker in workers.values())
    assert workers["test_first"] == workers["test_second"]
    assert workers[TOGETHER[0]] == workers[TOGETHER[1]]
    assert lines[0][0] in {"test_first", TOGETHER[0]}
    assert "measured: " in stdout
