"""When set-up works and when it leaves things alone. Its pip only notes what it should install."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

VENV = """
import os, pathlib

class EnvBuilder:
    def __init__(self, **options):
        pass

    def create(self, path):
        programs = pathlib.Path(path, "bin")
        programs.mkdir(parents=True, exist_ok=True)
        pathlib.Path(path, "stockman-stamp.json").unlink(missing_ok=True)
        python = programs / "python"
        python.write_text(os.environ["FAKE_PIP"])
        python.chmod(0o755)
"""
PIP = """#!/bin/sh
for last; do :; done
echo "${last##*/}" >>"$FAKE_LOG"
exit "$FAKE_STATUS"
"""
PYTHON = """#!/bin/sh
if [ "$1" = -c ]; then echo "{version} $0"; exit; fi
shift
PYTHONPATH="{fakes}" exec "{python}" "$@"
"""


class SetUp:
    """Calls `scripts/with-environment` in a clone and tells what was done."""

    def __init__(self, clone: Path) -> None:
        self.clone = clone
        self.log = clone.parent / "log"
        fakes = clone.parent / "fakes"
        fakes.mkdir()
        (fakes / "venv.py").write_text(VENV)
        (fakes / "ensurepip.py").touch()
        self.python = clone.parent / "python"
        version = "{}.{}".format(*sys.version_info[:2])
        self.python.write_text(PYTHON.format(fakes=fakes, python=sys.executable, version=version))
        self.python.chmod(0o755)

    def start(self, level: str, *, pip_status: int = 0) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.clone / "scripts" / "with-environment", level, "true"],
            env=os.environ
            | {
                "PYTHON": str(self.python),
                "FAKE_LOG": str(self.log),
                "FAKE_PIP": PIP,
                "FAKE_STATUS": str(pip_status),
            },
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, level: str, *, pip_status: int = 0) -> tuple[list[str], str]:
        """What pip was given, and everything that was output."""
        self.log.write_text("")
        _, output = self.start(level, pip_status=pip_status).communicate()
        return self.log.read_text().splitlines(), output

    def change(self, name: str) -> None:
        with (self.clone / name).open("a") as file:
            file.write("# changed\n")


@pytest.fixture
def set_up(clone: Path) -> SetUp:
    return SetUp(clone)


def test_the_first_run_makes_what_its_level_needs(set_up: SetUp) -> None:
    installed, output = set_up("run")

    assert installed == ["run.txt", "build.txt", "a clone", "lab"]
    assert output.startswith("stockman: making .venv/3.")


@pytest.mark.parametrize("level", ["run", "dev", "judges", "lock"])
def test_the_second_run_does_nothing_and_says_nothing(set_up: SetUp, level: str) -> None:
    set_up(level)

    assert set_up(level) == ([], "")


def test_the_development_level_adds_to_the_run_time_level(set_up: SetUp) -> None:
    set_up("run")

    installed, output = set_up("dev")

    assert installed == ["dev.txt"]
    assert "making" not in output


def test_judges_are_added_to_the_development_level(set_up: SetUp) -> None:
    set_up("dev")

    installed, output = set_up("judges")

    assert installed == ["judges.txt"]
    assert "making" not in output
    assert set_up("dev") == ([], "")


def test_the_run_time_level_is_part_of_the_development_level(set_up: SetUp) -> None:
    set_up("dev")

    assert set_up("run") == ([], "")


def test_changed_requirements_make_a_new_environment(set_up: SetUp) -> None:
    set_up("dev")
    set_up.change("requirements/dev.txt")

    installed, output = set_up("dev")

    assert installed == ["dev.txt", "a clone", "lab"]
    assert "making" in output


def test_a_new_version_of_the_project_installs_the_project_alone(set_up: SetUp) -> None:
    set_up("dev")
    set_up.change("src/stockman/__init__.py")

    installed, output = set_up("dev")

    assert installed == ["a clone", "lab"]
    assert "making" not in output


def test_settings_of_tools_in_pyproject_change_nothing(set_up: SetUp) -> None:
    set_up("dev")
    set_up.change("pyproject.toml")

    assert set_up("dev") == ([], "")


def test_the_tool_that_locks_has_an_environment_of_its_own(set_up: SetUp) -> None:
    installed, output = set_up("lock")

    assert installed == ["lock.txt"]
    assert "making .venv/lock-3." in output


def test_a_failed_installation_is_said_in_one_sentence_and_tried_again(set_up: SetUp) -> None:
    _, output = set_up("dev", pip_status=1)
    installed, _ = set_up("dev")

    assert "pip could not install what is locked" in output.splitlines()[-1]
    assert "Traceback" not in output
    assert installed == ["dev.txt", "a clone", "lab"]


def test_two_at_the_same_time_install_once(set_up: SetUp) -> None:
    both = [set_up.start("dev"), set_up.start("dev")]

    output = [process.communicate()[1] for process in both]

    assert [process.returncode for process in both] == [0, 0]
    assert sum("making" in text for text in output) == 1
    assert set_up.log.read_text().splitlines() == ["dev.txt", "a clone", "lab"]
