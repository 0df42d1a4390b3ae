"""Workers that send fewer reports still report every failure."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository.conftest import ROOT

CONFTEST = """
from tests.xdist_plugins import ResultReports, make_scheduler, needs_only_results

def pytest_configure(config):
    if needs_only_results(config):
        config.pluginmanager.register(ResultReports())

def pytest_xdist_make_scheduler(config, log):
    return make_scheduler(config, log)
"""
TESTS = """
import pytest

@pytest.fixture
def failing_setup():
    raise LookupError("in set-up")

@pytest.fixture
def failing_teardown():
    yield
    raise LookupError("in teardown")

def test_setup(failing_setup): ...

def test_teardown(failing_teardown): ...

def test_failure():
    assert 1 == 2

@pytest.mark.skip(reason="not today")
def test_skipped(): ...

@pytest.mark.parametrize("number", range(5))
def test_success(number): ...
"""


@pytest.mark.parametrize("option", ["--quiet", "--verbose", "--durations=1"])
def test_every_failure_is_reported(tmp_path: Path, option: str) -> None:
    output = run_pytest(tmp_path, option)

    assert re.search(r"3 failed, 18 passed, 3 skipped, 6 errors in", output), output
    for error in ("LookupError: in set-up", "LookupError: in teardown", "assert 1 == 2"):
        assert output.count(f"\nE       {error}\n") == 3


def test_every_test_is_named_with_verbose(tmp_path: Path) -> None:
    output = run_pytest(tmp_path, "--verbose")

    assert len(re.findall(r"PASSED.* test_\w+\.py::test_success\[\d\]", output)) == 15


def run_pytest(directory: Path, *options: str) -> str:
    """Run three files with the same tests on two workers; return the output."""
    (directory / "conftest.py").write_text(CONFTEST)
    for name in ("a", "b", "c"):
        (directory / f"test_{name}.py").write_text(TESTS)
    parallel = ["--numprocesses=2", "--dist=loadfile", "--no-loadscope-reorder"]
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", os.devnull, *parallel, *options, str(directory)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 1, process.stdout
    return process.stdout
