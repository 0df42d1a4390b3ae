"""The console entry: quick answers that load nothing."""

import shlex
import subprocess
import sys

import pytest

from stockman import __version__
from tests.cli.running import PATIENCE, REAL, clean, in_bash, ran

HEAVY = ("asyncio", "click", "cryptography", "dataclasses", "httpx2", "yaml")


def test_the_version_is_all_that_stdout_gets() -> None:
    assert ran("--version", program=REAL) == (0, f"{__version__}\n", "")


def test_the_version_is_printed_after_other_options_too() -> None:
    assert ran("-v", "--version", program=REAL) == (0, f"{__version__}\n", "")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_the_overview_goes_to_stdout(option: str) -> None:
    seen = ran(option, program=REAL)

    assert (seen.status, seen.err) == (0, "")
    assert seen.out.startswith("Usage: stockman [OPTIONS] COMMAND [ARGS]...\n")


def test_the_quick_overview_is_the_one_the_parser_would_print() -> None:
    assert ran("--help", program=REAL) == ran("-q", "--help", program=REAL)


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_quick_answers_import_nothing_heavy(option: str) -> None:
    program = (
        "import sys\n"
        "from stockman.cli.main import main\n"
        f"sys.argv = ['stockman', {option!r}]\n"
        "try: main()\n"
        "finally: sys.stderr.write(' '.join(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=clean(),
        timeout=PATIENCE,
        check=True,
    )

    assert set(HEAVY).isdisjoint(done.stderr.split())


def test_help_of_a_command_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from stockman.cli.main import main\n"
        "sys.argv = ['stockman', 'completion', '--help']\n"
        "try: main()\n"
        "finally: sys.stderr.write(' '.join(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=clean(),
        timeout=PATIENCE,
        check=True,
    )

    assert (set(HEAVY) - {"click"}).isdisjoint(done.stderr.split())


def test_the_collector_stays_on_and_has_nothing_to_look_through_at_the_end() -> None:
    program = (
        "import gc, sys\n"
        "from stockman.cli.main import main\n"
        "sys.argv = ['stockman', 'completion', 'bash']\n"
        "try: main()\n"
        "finally: sys.stderr.write(f'{gc.isenabled()} {len(gc.get_objects()) < 1000}')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=clean(),
        timeout=PATIENCE,
        check=True,
    )

    assert done.stderr == "True True"


def test_without_a_command_the_overview_goes_to_stderr_and_it_is_wrong_usage() -> None:
    seen = ran(program=REAL)

    assert (seen.status, seen.out) == (64, "")
    assert "Usage: stockman" in seen.err


@pytest.mark.parametrize("arguments", ["--version", "--help", "completion bash"])
def test_a_full_disk_is_told_once_and_without_a_trace(arguments: str) -> None:
    seen = in_bash(f"{shlex.quote(sys.executable)} -m stockman {arguments} >/dev/full")

    assert seen.status == 1
    assert seen.err.startswith("error[cli.output]: the output cannot be written\n")
    assert seen.err.count("\n") == 4


@pytest.mark.parametrize("arguments", ["--version", "--help", "completion bash"])
def test_a_closed_stdout_swallows_the_answer(arguments: str) -> None:
    assert in_bash(f"{shlex.quote(sys.executable)} -m stockman {arguments} >&-") == (0, "", "")


def test_a_closed_stderr_swallows_the_complaint() -> None:
    assert in_bash(f"{shlex.quote(sys.executable)} -m stockman nonsense 2>&-") == (64, "", "")
