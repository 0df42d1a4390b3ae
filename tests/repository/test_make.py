"""What `make` does, and what it says when it cannot: a wrong Python, a suite that is not there."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

VERSION = "{}.{}".format(*sys.version_info[:2])
CHOOSE = "choose another with PYTHON=, for example `make test PYTHON=python3.12`"


def test_without_a_target_the_targets_are_shown(clone: Path) -> None:
    result = _make(clone, python="no-such-python")

    assert result.returncode == 0
    for target in (
        "demo",
        "test",
        "check",
        "real",
        "fresh",
        "bench",
        "soak",
        "docs",
        "tools",
        "lock",
    ):
        assert f"\n  {target} " in result.stdout


def test_an_old_python_gets_one_sentence(clone: Path) -> None:
    old = _program(clone / "python3.8", 'echo "3.8 $0"')

    result = _make(clone, "test", python=old)

    assert result.returncode != 0
    assert _sentences(result.stderr) == [
        f"stockman: '{old}' is Python 3.8, and 3.11 or newer is needed: {CHOOSE}"
    ]
    assert not (clone / ".venv").exists()


@pytest.mark.parametrize(
    ("does", "sentence"),
    [
        ("exit 127", "does not start"),
        ("echo hello", "does not answer like Python"),
        ('echo "2.7 $0"', "is Python 2.7"),
        ('echo "3.10 $0"', "is Python 3.10"),
    ],
)
def test_what_is_no_python_for_us_gets_one_sentence(clone: Path, does: str, sentence: str) -> None:
    program = _program(clone / "program", does)

    result = _make(clone, "demo", python=program)

    assert result.returncode != 0
    (message,) = _sentences(result.stderr)
    assert message.startswith(f"stockman: '{program}' {sentence}, and ")


def test_a_missing_python_gets_one_sentence(clone: Path) -> None:
    result = _make(clone, "test", python="no-such-python")

    assert result.returncode != 0
    (message,) = _sentences(result.stderr)
    assert message.startswith("stockman: there is no program 'no-such-python', and Python 3.11 ")


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_python_without_a_module_that_set_up_needs_gets_one_sentence(
    clone: Path, module: str
) -> None:
    without = (
        f"import runpy, sys; sys.modules['{module}'] = None; "
        "del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    debian = _program(
        clone / "python3",
        f'if [ "$1" = -c ]; then echo "{VERSION} $0"; exit; fi',
        f'exec "{sys.executable}" -c "{without}" "$2" "$3"',
    )

    result = _make(clone, "test", python=debian)

    assert result.returncode != 0
    *_, message = _sentences(result.stderr)
    assert f" has no {module} module: install it " in message
    assert f"apt install python{VERSION}-venv" in message
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("suite", ["real", "soak"])
def test_a_suite_that_is_not_there_does_not_pass(clone: Path, suite: str) -> None:
    result = _make(clone, suite, python=sys.executable)

    assert result.returncode != 0
    assert _sentences(result.stderr) == [f"stockman: tests/{suite} is missing"]


STEPS = {
    "ruff check --quiet",
    "ruff format --quiet --check --diff",
    "python -m scripts.check_names",
    "lint-imports --no-logo",
    "sphinx-build -E -W -n --keep-going -q -b html -d build/doctrees docs build/docs",
    "python -m mypy --no-error-summary",
    "python scripts/check_secrets.py",
}


def test_every_step_of_check_is_done_before_the_tests(clone: Path) -> None:
    _log_steps(clone, fails="nothing")

    result = _make(clone, "check", python=sys.executable)

    assert result.returncode == 0, result.stderr
    _, *steps, last = _make_calls(clone)
    assert set(steps) == STEPS
    assert last.endswith("-q tests/docs tests/repository tests/tools")


@pytest.mark.parametrize("fails", ["ruff", "sphinx-build", "check_secrets"])
def test_a_step_of_check_that_fails_is_a_failure_without_tests(clone: Path, fails: str) -> None:
    _log_steps(clone, fails=fails)

    result = _make(clone, "check", python=sys.executable)

    assert result.returncode != 0
    assert any(fails in line for line in _make_calls(clone))
    assert not any("pytest" in line for line in _make_calls(clone))


def test_words_of_steps_that_run_side_by_side_stay_together(clone: Path) -> None:
    _log_steps(clone, fails="nothing")

    stdout = _make(clone, "check", python=sys.executable).stdout.splitlines()

    beginnings = [number for number, line in enumerate(stdout) if line.startswith("check: ")]
    between = [stdout[at + 1 : to] for at, to in pairwise([*beginnings, len(stdout)])]
    assert len(between) == len(STEPS) + 1
    assert all(len({line.partition(": ")[0] for line in lines}) == 1 for lines in between)


def test_programs_are_built_before_tests_against_them_run_side_by_side(clone: Path) -> None:
    (clone / "tests" / "real").mkdir(parents=True)
    _log_steps(clone, fails="build")

    everything = _make(clone, "real", "TOOLS=age,cue", python=sys.executable)
    some = _make(clone, "real", "ARGS=-k age", python=sys.executable)

    assert (everything.returncode, some.returncode) == (0, 0), everything.stderr + some.stderr
    build, tests, again = _make_calls(clone)
    assert build == "python -m tools build --quiet age cue"
    assert "-q tests/real -p tools.pytest_plugin --numprocesses=auto" in tests
    assert again.endswith(" -k age")


def _log_steps(clone: Path, *, fails: str) -> None:
    """Steps say what they are, line by line, instead of doing it; some of them fail."""
    _program(
        clone / "scripts" / "with-environment",
        'shift; echo "$*" >>calls',
        'for word in 1 2 3 4 5 6 7 8; do echo "$*: $word"; done',
        f'case "$*" in *{fails}*) exit 1 ;; esac',
    )


def _make_calls(clone: Path) -> list[str]:
    return (clone / "calls").read_text().splitlines()


def _make(clone: Path, *targets: str, python: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *targets, f"PYTHON={python}"],
        cwd=clone,
        env=os.environ | {"LC_ALL": "C"},
        check=False,
        capture_output=True,
        text=True,
    )


def _program(path: Path, *lines: str) -> str:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


def _sentences(stderr: str) -> list[str]:
    """Everything said, except the line that `make` itself adds."""
    return [line for line in stderr.splitlines() if not line.startswith("make: ***")]
