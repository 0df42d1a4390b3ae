"""The streams of a run."""

import io

import pytest

from stockman.cli.terminal.screen import OutputClosed, Screen
from stockman.model.errors import StockmanError


class BrokenStream(io.StringIO):
    """A stream that cannot be written to, for a reason of choice."""

    def __init__(self, reason: OSError) -> None:
        super().__init__()
        self._reason = reason

    def write(self, text: str) -> int:
        raise self._reason


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_data_and_notes_go_to_different_streams() -> None:
    out, err = io.StringIO(), io.StringIO()
    screen = Screen(None, out, err, {})

    screen.data("data")
    screen.note("note")
    screen.print_problems(["problem", "fix"])

    assert (out.getvalue(), err.getvalue()) == ("data\n", "note\nproblem\nfix\n")


def test_streams_that_are_closed_swallow_everything() -> None:
    screen = Screen(None, None, None, {})

    screen.data("data")
    screen.print_problems(["problem"])
    screen.flush()

    assert (screen.width, screen.can_prompt) == (None, False)


def test_a_reader_that_went_away_has_an_exception_of_its_own() -> None:
    screen = Screen(None, BrokenStream(BrokenPipeError()), None, {})

    with pytest.raises(OutputClosed):
        screen.data("data")


def test_a_full_disk_is_a_problem() -> None:
    screen = Screen(None, BrokenStream(OSError(28, "No space left on device")), None, {})

    with pytest.raises(StockmanError, match=r"cli\.output"):
        screen.data("data")


def test_a_terminal_has_a_width_and_colours() -> None:
    screen = Screen(None, Terminal(), io.StringIO(), {"TERM": "xterm", "COLUMNS": "66"})

    assert (screen.width, screen.notes_width) == (66, None)
    assert screen.paint("x", "good") == "\x1b[32mx\x1b[0m"
    assert screen.notes_paint("x", "good") == "x"


@pytest.mark.parametrize("environment", [{}, {"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}])
def test_colours_need_a_terminal_that_has_them(environment: dict[str, str]) -> None:
    assert Screen(None, Terminal(), None, environment).paint("x", "good") == "x"


def test_questions_need_somebody_who_sees_and_types() -> None:
    assert Screen(Terminal(), None, Terminal(), {}).can_prompt
    assert not Screen(Terminal(), Terminal(), io.StringIO(), {}).can_prompt
    assert not Screen(io.StringIO(), Terminal(), Terminal(), {}).can_prompt


def test_the_end_of_the_input_counts_as_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt):
        Screen(io.StringIO(""), None, None, {}).prompt("Name: ")
