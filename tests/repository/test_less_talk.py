"""Workers that say less leave out nothing that somebody has to know."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository.conftest import ROOT

CONFTEST = """
from tests.less_talk import LessTalk, is_enough, scheduling

def pytest_configure(config):
    if is_enough(config):
        config.pluginmanager.register(LessTalk())

def pytest_xdist_make_scheduler(config, log):
    return scheduling(config, log)
"""
TESTS = """
import pytest

@pytest.fixture
def never_there():
    raise LookupError("at the beginning")

@pytest.fixture
def left_behind():
    yield
    raise LookupError("at the end")

def test_set_up(never_there): ...

def test_torn_down(left_behind): ...

def test_wrong():
    assert 1 == 2

@pytest.mark.skip(reason="another day")
def test_skipped(): ...

@pytest.mark.parametrize("number", range(5))
def test_right(number): ...
"""


@pytest.mark.parametrize("more", ["--quiet", "--verbose", "--durations=1"])
def test_what_goes_wrong_is_told_whenever_it_does(tmp_path: Path, more: str) -> None:
    said = _said(tmp_path, more)

    assert re.search(r"3 failed, 18 passed, 3 skipped, 6 errors in", said), said
    for words in ("LookupError: at the beginning", "LookupError: at the end", "assert 1 == 2"):
        assert said.count(f"\nE       {words}\n") == 3


def test_with_many_words_every_test_is_named(tmp_path: Path) -> None:
    said = _said(tmp_path, "--verbose")

    assert len(re.findall(r"PASSED.* test_\w+\.py::test_right\[\d\]", said)) == 15


def _said(place: Path, *more: str) -> str:
    """What three files of the same tests come to, with two workers."""
    (place / "conftest.py").write_text(CONFTEST)
    for name in ("one", "three", "two"):
        (place / f"test_{name}.py").write_text(TESTS)
    shared = ["--numprocesses=2", "--dist=loadfile", "--no-loadscope-reorder"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", os.devnull, *shared, *more, str(place)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1, ended.stdout
    return ended.stdout
