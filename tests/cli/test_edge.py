"""How a run ends: statuses, problems, interrupts, closed pipes, strange terminals."""

import shlex
import signal
import subprocess

import pytest

from stockman.cli.output import Exit
from stockman.model.problem import Problem
from tests.cli.fake_commands import PLANTED, PROBLEM
from tests.cli.running import FAKE, PATIENCE, clean, in_bash, on_terminal, ran

FAKE_LINE = shlex.join(FAKE)


@pytest.mark.parametrize("status", [0, 1, 2, 3, 4, 64])
def test_the_status_of_a_command_is_the_status_of_the_process(status: int) -> None:
    assert ran("status", str(status)) == (status, "", "")


def test_every_status_has_a_meaning() -> None:
    assert [int(code) for code in Exit] == [0, 1, 2, 3, 4, 64, 130, 141]
    assert all(code.meaning for code in Exit)


@pytest.mark.parametrize(("kind", "status"), [("failed", 1), ("refused", 3), ("usage", 64)])
def test_an_error_prints_its_problem_once_on_stderr(kind: str, status: int) -> None:
    assert ran("raise", kind) == (status, "", f"{PROBLEM}\n")


def test_debug_shows_the_trace_before_the_problem() -> None:
    seen = ran("raise", "failed", "--debug")

    assert seen.err.startswith("Traceback (most recent call last):\n")
    assert seen.err.endswith(f"{PROBLEM}\n")


def test_a_bug_tells_its_kind_and_place_and_nothing_else() -> None:
    seen = ran("raise", "bug")

    assert (seen.status, seen.out) == (1, "")
    assert seen.err.startswith("error[internal.bug]: ")
    assert "RuntimeError" in seen.err
    assert "where: stockman.cli." in seen.err
    assert "--debug" in seen.err
    assert "Traceback" not in seen.err
    assert PLANTED not in seen.err


def test_debug_shows_a_secret_as_stars() -> None:
    seen = ran("--debug", "raise", "secret")

    assert "RuntimeError: ***" in seen.err
    assert PLANTED not in seen.err


def test_a_command_whose_module_is_missing_is_a_bug_and_debug_counts_after_its_name() -> None:
    assert "Traceback" not in ran("absent").err
    assert "ModuleNotFoundError" in ran("absent", "--debug").err


def test_a_broken_pipe_that_is_not_our_output_is_not_silent() -> None:
    seen = ran("raise", "pipe")

    assert seen.status == 1
    assert "BrokenPipeError" in seen.err


def test_a_reader_that_goes_away_ends_the_run_quietly() -> None:
    seen = in_bash(f"{FAKE_LINE} flood | head -1; exit ${{PIPESTATUS[0]}}")

    assert seen == (141, "line 0\n", "")


def test_a_reader_of_stderr_that_goes_away_ends_the_run_quietly() -> None:
    seen = in_bash(f"{FAKE_LINE} raise bug 2>&1 >/dev/null | true; exit ${{PIPESTATUS[0]}}")

    assert seen.status in (1, 141)  # 1: all was written before the reader left
    assert (seen.out, seen.err) == ("", "")


def test_an_interrupt_says_so_and_exits_130() -> None:
    with subprocess.Popen(
        [*FAKE, "wait"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean(),
    ) as process:
        assert process.stdout is not None
        ready = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)

    assert (ready, out, err) == ("ready\n", "", "interrupted\n")
    assert process.returncode == 130


@pytest.mark.parametrize("locale", ["LANG=C", "LC_ALL=C", "LC_ALL=POSIX"])
def test_a_plain_locale_prints_every_character(locale: str) -> None:
    seen = ran("unicode", program=("env", locale, *FAKE))

    assert (seen.status, seen.out, seen.err) == (0, "Zoë 猫 ─\n", "Zoë 猫 ─\n")


def test_a_stream_that_knows_only_ascii_gets_escapes() -> None:
    seen = ran("unicode", PYTHONIOENCODING="ascii:strict")

    assert (seen.status, seen.out) == (0, "Zo\\xeb \\u732b \\u2500\n")
    assert seen.err == seen.out


def test_problems_are_coloured_on_a_terminal_alone() -> None:
    assert "\x1b[1;31merror[fake.problem]\x1b[0m: node" in on_terminal("raise", "failed").out
    assert "\x1b" not in ran("raise", "failed", TERM="xterm").err


@pytest.mark.parametrize(
    "arguments", [["--no-color", "raise", "failed"], ["raise", "failed", "--no-color"]]
)
def test_an_option_refuses_colours(arguments: list[str]) -> None:
    assert on_terminal(*arguments).out == f"{PROBLEM}\n"


def test_the_environment_refuses_colours() -> None:
    assert on_terminal("raise", "failed", NO_COLOR="1").out == f"{PROBLEM}\n"
    assert on_terminal("raise", "failed", TERM="dumb").out == f"{PROBLEM}\n"


def test_an_empty_no_color_refuses_nothing() -> None:
    assert "\x1b" in on_terminal("raise", "failed", NO_COLOR="").out


def test_a_problem_wraps_on_a_narrow_terminal() -> None:
    shown = on_terminal("raise", "failed", "--no-color", columns=40).out

    assert max(map(len, shown.splitlines())) <= 40
    assert " ".join(shown.split()) == " ".join(str(PROBLEM).split())


def test_the_problem_of_a_fake_command_is_a_problem() -> None:
    assert isinstance(PROBLEM, Problem)
