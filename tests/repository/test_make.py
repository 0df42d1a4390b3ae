"""What `make` says when it cannot work: a wrong Python, a suite that is not there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

VERSION = "{}.{}".format(*sys.version_info[:2])
CHOOSE = "choose another with PYTHON=, for example `make test PYTHON=python3.12`"


def test_without_a_target_the_targets_are_shown(clone: Path) -> None:
    ended = _make(clone, python="no-such-python")

    assert ended.returncode == 0
    for target in ("demo", "test", "check", "real", "bench", "soak", "docs", "tools", "lock"):
        assert f"\n  {target} " in ended.stdout


def test_an_old_python_gets_one_sentence(clone: Path) -> None:
    old = _program(clone / "python3.8", 'echo "3.8 $0"')

    ended = _make(clone, "test", python=old)

    assert ended.returncode != 0
    assert _sentences(ended.stderr) == [
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
    strange = _program(clone / "strange", does)

    ended = _make(clone, "demo", python=strange)

    assert ended.returncode != 0
    (said,) = _sentences(ended.stderr)
    assert said.startswith(f"stockman: '{strange}' {sentence}, and ")


def test_a_missing_python_gets_one_sentence(clone: Path) -> None:
    ended = _make(clone, "test", python="no-such-python")

    assert ended.returncode != 0
    (said,) = _sentences(ended.stderr)
    assert said.startswith("stockman: there is no program 'no-such-python', and Python 3.11 ")


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

    ended = _make(clone, "test", python=debian)

    assert ended.returncode != 0
    *_, said = _sentences(ended.stderr)
    assert f" has no {module} module: install it " in said
    assert f"apt install python{VERSION}-venv" in said
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("suite", ["real", "soak"])
def test_a_suite_that_is_not_there_does_not_pass(clone: Path, suite: str) -> None:
    ended = _make(clone, suite, python=sys.executable)

    assert ended.returncode != 0
    assert _sentences(ended.stderr) == [f"stockman: tests/{suite} is missing"]


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
