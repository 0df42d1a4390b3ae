"""Wrong command lines: status 64, usage and a hint on stderr, nothing on stdout."""

import pytest

from stockman.cli.edge import run
from tests.cli.fake_commands import REGISTRY
from tests.cli.running import ran


def wrong(arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a wrong command line prints on stderr."""
    status = run(arguments.split(), REGISTRY)
    seen = capsys.readouterr()

    assert (status, seen.out) == (64, "")
    return seen.err


def test_an_unknown_command_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    told = wrong("statsu", capsys)

    assert told.startswith("Usage: stockman [OPTIONS] COMMAND [ARGS]...\n\nerror[cli.usage]: ")
    assert "`stockman` has no command `statsu`" in told
    assert "did you mean `status`? see `stockman --help`" in told


def test_an_unknown_command_of_a_group_suggests_from_that_group(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = wrong("pets lits", capsys)

    assert "`stockman pets` has no command `lits`" in told
    assert "why:   its commands are list, feed\n" in told
    assert "did you mean `list`? see `stockman pets --help`" in told


def test_the_beginning_of_a_command_is_enough_for_a_suggestion(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "did you mean `completion`?" in wrong("com", capsys)


def test_a_word_like_no_command_suggests_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean" not in wrong("xyzzy", capsys)


def test_an_unknown_option_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    told = wrong("pets list --outptu json", capsys)

    assert "`stockman pets list` has no option `--outptu`" in told
    assert (
        "why:   its options are --output, -C, --verbose, --quiet, --no-color, --debug, --help\n"
        in told
    )
    assert "did you mean `--output`?" in told


def test_an_option_of_a_command_before_its_name_says_where_it_belongs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = wrong("--output json pets list", capsys)

    assert "`stockman` has no option `--output`" in told
    assert "options of a command follow its name" in told


def test_a_wrong_value_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    told = wrong("pets list -o jsn", capsys)

    assert "invalid value for `-o` / `--output`" in told
    assert "why:   'jsn' is not one of table, json, yaml, name\n" in told
    assert "did you mean `json`?" in told


def test_a_wrong_value_from_the_environment_names_the_variable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOCKMAN_OUTPUT", "xml")

    assert "STOCKMAN_OUTPUT" in wrong("pets list", capsys)


def test_a_missing_argument_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "error[cli.usage]: `stockman pets feed` needs `NAME`\n" in wrong("pets feed", capsys)


def test_a_missing_choice_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert "choose one of bash, zsh, fish" in wrong("completion", capsys)


def test_an_option_without_its_value_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'-o' requires an argument" in wrong("pets list -o", capsys)


def test_a_word_too_many_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    told = wrong("pets feed Bella Zoë now", capsys)

    assert "`stockman pets feed`: `Zoë now`" in told


def test_a_group_without_a_command_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Commands:\n  list" in wrong("pets", capsys)


def test_no_trace_is_shown_for_wrong_usage_even_with_debug(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "Traceback" not in wrong("statsu --debug", capsys)


def test_control_characters_in_words_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(["\x1b[31mred"], REGISTRY)

    assert "`\\x1b[31mred`" in capsys.readouterr().err


def test_the_process_exits_64() -> None:
    seen = ran("statsu")

    assert (seen.status, seen.out) == (64, "")
