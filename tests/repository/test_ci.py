"""`.ci/run`, with a `make` that only notes what it is asked for."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_everything_runs_in_order(tmp_path: Path) -> None:
    result = _run(tmp_path, fails="nothing")

    assert result.returncode == 0
    assert _make_calls(tmp_path) == ["check", "test", "fresh", "real"]
    assert "make real: passed in " in result.stdout
    assert result.stdout.splitlines()[-1].startswith("ci: passed in ")


@pytest.mark.parametrize(
    ("fails", "ran", "left"),
    [
        ("check", ["check"], ["test", "fresh", "real"]),
        ("test", ["check", "test"], ["fresh", "real"]),
        ("fresh", ["check", "test", "fresh"], ["real"]),
        ("real", ["check", "test", "fresh", "real"], []),
    ],
)
def test_the_first_failure_ends_the_run(
    tmp_path: Path, fails: str, ran: list[str], left: list[str]
) -> None:
    result = _run(tmp_path, fails=fails)

    assert result.returncode == 1
    assert _make_calls(tmp_path) == ran
    assert f"make {fails}: failed after " in result.stdout
    assert all(f"make {target}: did not run" in result.stdout for target in left)
    assert result.stdout.splitlines()[-1].startswith("ci: failed in ")


def test_the_tests_run_without_root_with_the_python_of_the_system(tmp_path: Path) -> None:
    _run(tmp_path, fails="nothing", copies=True)

    (line,) = (tmp_path / "tests").read_text().splitlines()
    directory, _, command = line.partition(" ")
    assert command == "test PYTHON=/usr/bin/python3"
    if os.geteuid() == 0:
        switch, copy = (tmp_path / "switched").read_text().split(), Path(directory).parent
        assert switch[:3] == ["--reuid=65534", "--regid=65534", "--clear-groups"]
        assert copy.parent == Path("/var/tmp")
        assert (tmp_path / "copied").read_text().split() == ["65534", "README.md"]
        assert not copy.exists()
    else:
        assert directory == str(ROOT)


MAKE = """#!/bin/sh
root=$PWD
case $1 in --directory=*) root=${1#*=}; shift ;; esac
echo "$1" >>"HERE/calls"
[ "$1" != test ] || echo "$root $*" >"HERE/tests"
[ "$1" != test ] || (cd "$root" && stat --format="%u %n" README.md >"HERE/copied")
[ "$1" != FAILS ]
"""
SETPRIV = """#!/bin/sh
echo "$*" >"HERE/switched"
while [ "${1#--}" != "$1" ]; do shift; done
exec "$@"
"""
TAR = """#!/bin/sh
cat >/dev/null
"""


def _run(directory: Path, *, fails: str, copies: bool = False) -> subprocess.CompletedProcess[str]:
    """Run it; without `copies` the tree is not copied, which takes seconds."""
    programs = {"make": MAKE, "setpriv": SETPRIV} | ({} if copies else {"tar": TAR})
    for name, text in programs.items():
        program = directory / name
        program.write_text(text.replace("HERE", str(directory)).replace("FAILS", fails))
        program.chmod(0o755)
    return subprocess.run(
        [ROOT / ".ci" / "run"],
        env=os.environ | {"PATH": f"{directory}:{os.environ['PATH']}"},
        check=False,
        capture_output=True,
        text=True,
    )


def _make_calls(directory: Path) -> list[str]:
    return (directory / "calls").read_text().split()
