"""What `-o` prints."""

import json

import pytest
import yaml

from stockman.cli.edge import run
from tests.cli.fake_commands import PLANTED, REGISTRY
from tests.cli.running import on_terminal, ran

Capture = pytest.CaptureFixture[str]

DOCUMENT = {
    "apiVersion": "stockman/v1",
    "kind": "Pets",
    "data": [
        {
            "name": "Bella",
            "kind": "dog that guards the gate and sleeps all day",
            "token": "***",
        },
        {"name": "Zoë", "kind": "猫", "token": "***"},
    ],
}


def test_json_comes_in_an_envelope(capsys: Capture) -> None:
    run(["pets", "list", "-o", "json"], REGISTRY)

    seen = capsys.readouterr()
    assert json.loads(seen.out) == DOCUMENT
    assert "Zoë" in seen.out
    assert seen.err == ""


def test_yaml_is_the_same_envelope(capsys: Capture) -> None:
    run(["pets", "list", "--output", "yaml"], REGISTRY)

    assert yaml.safe_load(capsys.readouterr().out) == DOCUMENT


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_data_for_programs_survives_a_stream_that_knows_only_ascii(output: str) -> None:
    seen = ran("pets", "list", "-o", output, PYTHONIOENCODING="ascii:strict")

    assert seen.out.isascii()
    assert yaml.safe_load(seen.out) == DOCUMENT


def test_names_come_one_per_line(capsys: Capture) -> None:
    run(["pets", "list", "-o", "name"], REGISTRY)

    assert capsys.readouterr() == ("Bella\nZoë\n", "")


def test_a_table_is_the_default(capsys: Capture) -> None:
    run(["pets", "list"], REGISTRY)

    assert capsys.readouterr().out == (
        "NAME   KIND                                         TOKEN\n"
        "Bella  dog that guards the gate and sleeps all day  ***\n"
        "Zoë    猫                                           ***\n"
    )


def test_the_environment_names_the_form(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOCKMAN_OUTPUT", "name")

    run(["pets", "list"], REGISTRY)

    assert capsys.readouterr().out == "Bella\nZoë\n"


def test_the_option_is_stronger_than_the_environment(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOCKMAN_OUTPUT", "name")

    run(["pets", "list", "-o", "json"], REGISTRY)

    assert json.loads(capsys.readouterr().out) == DOCUMENT


@pytest.mark.parametrize("output", ["table", "json", "yaml", "name"])
def test_no_form_shows_a_secret(output: str, capsys: Capture) -> None:
    run(["pets", "list", "-o", output], REGISTRY)

    assert PLANTED not in capsys.readouterr().out


def test_a_pipe_gets_whole_rows_whatever_the_width() -> None:
    assert ran("pets", "list", COLUMNS="40") == ran("pets", "list")


def test_a_narrow_terminal_gets_wrapped_cells() -> None:
    shown = on_terminal("pets", "list", "--no-color", columns=40).out

    assert shown == (
        "NAME   KIND                        TOKEN\n"
        "Bella  dog that guards the gate    ***\n"
        "       and sleeps all day\n"
        "Zoë    猫                          ***\n"
    )


def test_a_terminal_gets_colours_and_a_pipe_does_not() -> None:
    assert "\x1b[36mBella\x1b[0m" in on_terminal("pets", "list").out
    assert "\x1b" not in ran("pets", "list", TERM="xterm").out


@pytest.mark.parametrize("output", ["json", "yaml", "name"])
def test_data_for_programs_has_no_colours_on_a_terminal_either(output: str) -> None:
    assert "\x1b" not in on_terminal("pets", "list", "-o", output).out
