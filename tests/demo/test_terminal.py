"""The visible lines of a terminal after escape sequences."""

from demo.terminal import visible_lines

UP, CLEAR, CLEAR_BELOW = "\x1b[{}A", "\x1b[K", "\x1b[J"


def test_plain_lines_are_visible() -> None:
    assert visible_lines("first\r\nsecond\r\n") == ["first", "second"]


def test_a_frame_replaces_the_previous_frame() -> None:
    first = f"\r{CLEAR}half\n{CLEAR}of it\n{CLEAR_BELOW}"
    second = f"\r{UP.format(2)}{CLEAR}done\n{CLEAR_BELOW}"

    assert visible_lines(f"start\n{first}{second}end\n") == ["start", "done", "end"]


def test_colors_are_kept() -> None:
    assert visible_lines("\x1b[32mgood\x1b[0m\n") == ["\x1b[32mgood\x1b[0m"]
