"""What stays on a terminal that was drawn over."""

from demo.terminal import settled

UP, CLEAR, BELOW = "\x1b[{}A", "\x1b[K", "\x1b[J"


def test_plain_lines_stay() -> None:
    assert settled("one\r\ntwo\r\n") == ["one", "two"]


def test_a_frame_takes_the_place_of_the_one_before() -> None:
    first = f"\r{CLEAR}half\n{CLEAR}of it\n{BELOW}"
    second = f"\r{UP.format(2)}{CLEAR}done\n{BELOW}"

    assert settled(f"begun\n{first}{second}ended\n") == ["begun", "done", "ended"]


def test_colours_stay() -> None:
    assert settled("\x1b[32mgood\x1b[0m\n") == ["\x1b[32mgood\x1b[0m"]
