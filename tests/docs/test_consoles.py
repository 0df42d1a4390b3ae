"""Every command of the pages that needs no cluster is run, and does what its page shows."""

import re
from itertools import zip_longest
from pathlib import Path

import pytest

from tests.docs import consoles, pages

PAGES = pages.hand_written()
RUNNING = [page for page in PAGES if consoles.steps(page)]


@pytest.mark.parametrize("page", RUNNING, ids=lambda page: page.relative_to(pages.ROOT).as_posix())
def test_commands_of_a_page_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    steps = consoles.steps(page)

    ended = consoles.run([step.command for step in steps], tmp_path)

    for step, end, following in zip_longest(steps, ended, steps[1:]):
        assert end is not None, f"{step.place}: the shell ended before this command"
        if following is None or following.command != "echo $?":
            assert end.status == 0, f"{step.place}: {step.command}\n" + "\n".join(end.printed)
        if step.shown:
            assert consoles.is_as_shown(end.printed, step.shown), (
                f"{step.place}: {step.command} prints what `python -m tests.docs.refresh` would"
                " show:\n" + "\n".join(end.printed)
            )


def test_commands_that_are_run_ask_nobody_over_the_network() -> None:
    commands = [step.command for page in RUNNING for step in consoles.steps(page)]

    asking = [one for one in commands if "--online" in one or re.search(r"doctor(?!.*--off)", one)]

    assert asking == []


def test_command_lines_stand_in_console_blocks_so_that_they_are_run() -> None:
    hidden = [
        block.place
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
    assert consoles.is_as_shown(printed, shown)


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (("a", "b"), ("a",)),
        (("a",), ("a", "b")),
        (("a", "b"), ("...", "a")),
        (("a", "c"), ("a", "...", "b")),
    ],
)
def test_lines_that_differ_are_seen(printed: tuple[str, ...], shown: tuple[str, ...]) -> None:
    assert not consoles.is_as_shown(printed, shown)


def test_what_a_page_shows_is_made_anew_with_its_gaps() -> None:
    shown = ("at 1:2", "...", "line 3", "...")

    fresh = consoles.made_anew(("at 5:6", "x", "line 7", "y"), shown)

    assert fresh == ("at 5:6", "...", "line 7", "...")


def test_output_that_lost_what_a_page_shows_is_left_to_people() -> None:
    assert consoles.made_anew(("a", "b"), ("a", "...", "c")) is None
