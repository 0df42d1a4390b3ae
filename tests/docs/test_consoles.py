"""Commands in the pages print what the pages show."""

import re
from itertools import zip_longest
from pathlib import Path

import pytest

from tests.docs import consoles, pages

PAGES = pages.hand_written()
PAGES_WITH_COMMANDS = [page for page in PAGES if consoles.steps(page)]


@pytest.mark.parametrize(
    "page", PAGES_WITH_COMMANDS, ids=lambda page: page.relative_to(pages.ROOT).as_posix()
)
def test_commands_of_a_page_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    steps = consoles.steps(page)

    results = consoles.run([step.command for step in steps], tmp_path)

    for step, result, following in zip_longest(steps, results, steps[1:]):
        assert result is not None, f"{step.position}: the shell ended before this command"
        if following is None or following.command != "echo $?":
            assert result.status == 0, f"{step.position}: {step.command}\n" + "\n".join(
                result.printed
            )
        if step.shown:
            assert consoles.matches_shown(result.printed, step.shown), (
                f"{step.position}: {step.command} has other output (`python -m tests.docs.refresh`"
                " updates the page):\n" + "\n".join(result.printed)
            )


def test_commands_that_are_run_use_no_network() -> None:
    commands = [step.command for page in PAGES_WITH_COMMANDS for step in consoles.steps(page)]

    online = [line for line in commands if re.search(r"--online|doctor(?!.*--off)", line)]

    assert online == []


def test_command_lines_are_in_console_blocks() -> None:
    hidden = [
        block.position
        for page in PAGES
        for block in pages.blocks(page)
        if block.language != "console"
        and block.above != pages.NOT_YET
        and not pages.NOT_RUN.fullmatch(block.above)
        and any(re.match(r"\$ |stockman ", line) for line in block.lines)
    ]

    assert hidden == []


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (("a", "b"), ("a", "b")),
        (("a", "b", "c"), ("a", "...")),
        (("a", "b", "c"), ("...", "c")),
        (("a",), ("...", "a", "...")),
        (("a", "x", "b", "y", "b", "c"), ("a", "...", "b", "c")),
    ],
)
def test_three_dots_stand_for_any_lines(printed: tuple[str, ...], shown: tuple[str, ...]) -> None:
    assert consoles.matches_shown(printed, shown)


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (("a", "b"), ("a",)),
        (("a",), ("a", "b")),
        (("a", "b"), ("...", "a")),
        (("a", "c"), ("a", "...", "b")),
    ],
)
def test_different_lines_do_not_match(printed: tuple[str, ...], shown: tuple[str, ...]) -> None:
    assert not consoles.matches_shown(printed, shown)


def test_output_is_updated_around_three_dots() -> None:
    shown = ("at 1:2", "...", "line 3", "...")

    fresh = consoles.update_shown(("at 5:6", "x", "line 7", "y"), shown)

    assert fresh == ("at 5:6", "...", "line 7", "...")


def test_output_without_the_shown_lines_is_not_updated() -> None:
    assert consoles.update_shown(("a", "b"), ("a", "...", "c")) is None
