"""Problems as people and programs see them."""

import pytest

from stockman.cli.problems import problem_data, problem_lines, problem_summary
from stockman.cli.terminal.styles import paint_text
from stockman.model.origin import Position
from stockman.model.problem import Problem, Severity
from tests.cli.running import on_terminal, ran

TEXT = "nodes:\n  - name: work-16\n    address: 10.20.68.16\n"


def problem(where: Position | str = "", severity: Severity = Severity.ERROR) -> Problem:
    return Problem(
        code="config.address",
        what="node work-16 has an address outside the cluster network",
        where=where,
        why="10.20.68.16 is not inside 10.20.66.0/23",
        fix="give the node another address",
        severity=severity,
    )


def excerpt(line: str, column: int, width: int | None = None) -> list[str]:
    """The line and the caret that are shown for a file of one line."""
    found = problem(Position("x.yaml", 1, column))
    return [
        problem_line
        for problem_line in problem_lines([found], {"x.yaml": line}, width=width)
        if " |" in problem_line
    ]


def test_without_the_text_a_problem_looks_as_it_prints_itself() -> None:
    found = problem(Position("nodes.yaml", 3, 14))

    assert "\n".join(problem_lines([found])) == str(found)


def test_the_wrong_line_is_shown_with_a_caret() -> None:
    found = problem(Position("nodes.yaml", 3, 14))

    assert "\n".join(problem_lines([found], {"nodes.yaml": TEXT})) == (
        "error[config.address]: node work-16 has an address outside the cluster network\n"
        "  where: nodes.yaml:3:14\n"
        "    3 |     address: 10.20.68.16\n"
        "      |              ^\n"
        "  why:   10.20.68.16 is not inside 10.20.66.0/23\n"
        "  fix:   give the node another address"
    )


def test_a_problem_in_no_file_has_no_line() -> None:
    assert "where: Proxmox host thor" in "\n".join(problem_lines([problem("Proxmox host thor")]))


def test_a_problem_nowhere_in_particular_has_no_where() -> None:
    assert "where" not in "\n".join(problem_lines([problem()]))


def test_an_empty_line_stands_between_two_problems() -> None:
    assert list(problem_lines([problem(), problem("x")])).count("") == 1


def test_the_number_of_a_line_pushes_the_bar_to_the_right() -> None:
    found = problem(Position("x", 100, 1))

    lines = list(problem_lines([found], {"x": "\n" * 99 + "ab"}))

    assert lines[2:4] == ["    100 | ab", "        | ^"]


@pytest.mark.parametrize("line", [0, 5, 999])
def test_a_line_that_the_text_does_not_have_is_not_shown(line: int) -> None:
    found = problem(Position("nodes.yaml", line, 1))

    assert "|" not in "\n".join(problem_lines([found], {"nodes.yaml": TEXT}))


def test_a_column_behind_the_end_points_just_behind_it() -> None:
    assert excerpt("ab", 9) == ["    1 | ab", "      |   ^"]


def test_an_empty_line_has_its_caret_at_the_start() -> None:
    assert excerpt("", 1) == ["    1 |", "      | ^"]


def test_tabs_become_spaces_and_the_caret_stays_under_its_character() -> None:
    assert excerpt("a\tb:\tc", 6) == ["    1 | a   b:  c", "      |         ^"]


def test_windows_line_ends_are_not_shown() -> None:
    assert excerpt("ab\r\ncd", 1) == ["    1 | ab", "      | ^"]


def test_wide_characters_move_the_caret_by_two() -> None:
    assert excerpt("猫: x", 4) == ["    1 | 猫: x", "      |     ^"]


def test_control_characters_are_written_out_before_the_caret_too() -> None:
    assert excerpt("\x1b[2Jx", 5) == ["    1 | \\x1b[2Jx", "      |        ^"]


def test_a_long_line_is_cut_around_the_caret() -> None:
    line = "".join(f"{number:04}" for number in range(500))

    shown, caret = excerpt(line, 1001, width=47)

    assert len(shown) <= 47
    assert shown[8:11] == "..."
    assert shown.endswith("...")
    assert shown[caret.index("^")] == "0"
    assert shown[caret.index("^") :].startswith("02500251")


def test_the_start_of_a_long_line_is_cut_only_behind() -> None:
    shown, caret = excerpt("x" * 500, 1)

    assert shown.startswith("    1 | xxx")
    assert shown.endswith("x...")
    assert caret == "      | ^"


def test_the_end_of_a_long_line_is_cut_only_before() -> None:
    shown, caret = excerpt("x" * 499 + "y", 500)

    assert shown.startswith("    1 | ...x")
    assert shown.endswith("xy")
    assert caret.index("^") == len(shown) - 1


def test_what_the_caller_masks_is_never_shown() -> None:
    found = problem(Position("x", 1, 9))

    lines = list(
        problem_lines([found], {"x": "token: hunter2"}, redact=lambda line: line[:7] + "***")
    )

    assert lines[2:4] == ["    1 | token: ***", "      |         ^"]


def test_severities_have_colours() -> None:
    warning = problem(severity=Severity.WARNING)

    assert next(problem_lines([problem()], paint=paint_text)).startswith("\x1b[1;31merror[")
    assert next(problem_lines([warning], paint=paint_text)).startswith("\x1b[1;33mwarning[")


@pytest.mark.parametrize(
    ("errors", "warnings", "text"),
    [
        (3, 1, "3 errors, 1 warning"),
        (1, 0, "1 error"),
        (0, 2, "2 warnings"),
        (0, 0, "no problems"),
    ],
)
def test_the_summary_counts(errors: int, warnings: int, text: str) -> None:
    rows = [problem()] * errors + [problem(severity=Severity.WARNING)] * warnings

    assert problem_summary(rows) == text


def test_programs_get_file_line_and_column() -> None:
    assert problem_data(problem(Position("nodes.yaml", 3, 14))) == {
        "code": "config.address",
        "severity": "error",
        "what": "node work-16 has an address outside the cluster network",
        "where": "nodes.yaml:3:14",
        "why": "10.20.68.16 is not inside 10.20.66.0/23",
        "fix": "give the node another address",
        "file": "nodes.yaml",
        "line": 3,
        "column": 14,
    }


def test_programs_get_null_where_there_is_no_file() -> None:
    data = problem_data(problem("Proxmox host thor"))

    assert (data["where"], data["file"], data["line"]) == ("Proxmox host thor", None, None)


def test_a_command_shows_problems_on_a_narrow_terminal() -> None:
    shown = on_terminal("problem", "--no-color", columns=40).out

    assert "\n    2 |     address: 10.20.68.16\n      |              ^\n" in shown
    assert max(map(len, shown.splitlines())) <= 40


def test_a_command_shows_problems_in_a_pipe_unwrapped() -> None:
    assert len(ran("problem", COLUMNS="40").out.splitlines()) == 6
