"""The options that every command takes, before and after its name."""

from pathlib import Path

import pytest

from stockman.cli.edge import run
from tests.cli.fake_commands import REGISTRY

Capture = pytest.CaptureFixture[str]


def printed(arguments: list[str], capsys: Capture) -> str:
    assert run(arguments, REGISTRY) == 0
    return capsys.readouterr().out.rstrip("\n")


@pytest.fixture
def inner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory `outer/inner` below the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outer/inner").mkdir(parents=True)
    return (tmp_path / "outer/inner").resolve()


def test_a_command_starts_where_the_user_is(inner: Path, capsys: Capture) -> None:
    assert printed(["where"], capsys) == str(inner.parents[1])


@pytest.mark.parametrize(
    "arguments",
    [
        ["-C", "outer/inner", "where"],
        ["where", "-C", "outer/inner"],
        ["-C", "outer", "where", "-C", "inner"],
    ],
)
def test_a_directory_counts_before_and_after_the_command(
    inner: Path, capsys: Capture, arguments: list[str]
) -> None:
    assert printed(arguments, capsys) == str(inner)


def test_the_directory_is_left_when_the_run_ends(inner: Path, capsys: Capture) -> None:
    printed(["-C", "outer", "where", "-C", "inner"], capsys)

    assert Path.cwd().resolve() == inner.parents[1]


def test_the_environment_names_the_directory(
    inner: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOCKMAN_DIR", "outer/inner")

    assert printed(["where"], capsys) == str(inner)


@pytest.mark.parametrize("arguments", [["-C", "outer", "where"], ["where", "-C", "outer"]])
def test_an_option_replaces_the_directory_of_the_environment(
    inner: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setenv("STOCKMAN_DIR", "not/there")

    assert printed(arguments, capsys) == str(inner.parent)


def test_a_directory_that_does_not_exist_is_wrong_usage(inner: Path, capsys: Capture) -> None:
    assert run(["-C", str(inner / "nope"), "where"], REGISTRY) == 64
    assert "does not exist" in capsys.readouterr().err


def test_a_directory_of_the_environment_that_does_not_exist_names_the_variable(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOCKMAN_DIR", "/not/there")

    assert run(["where"], REGISTRY) == 64
    assert "$STOCKMAN_DIR" in capsys.readouterr().err


CHANGE = "POST https://pve:8006/b: 200, 0.010 s\n"
READ = "GET https://pve:8006/a: 200, 0.010 s\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["tell"], "note\n"),
        (["-v", "tell"], f"note\ndetail\n{CHANGE}"),
        (["tell", "--verbose"], f"note\ndetail\n{CHANGE}"),
        (["tell", "-vv"], f"note\ndetail\neverything\n{CHANGE}{READ}"),
        (["-v", "tell", "-v"], f"note\ndetail\neverything\n{CHANGE}{READ}"),
        (["-q", "tell"], ""),
        (["tell", "--quiet"], ""),
        (["-v", "tell", "-q"], ""),
    ],
)
def test_how_much_is_told_on_stderr(arguments: list[str], text: str, capsys: Capture) -> None:
    assert run(arguments, REGISTRY) == 0

    assert capsys.readouterr() == ("data\n", text)


def test_problems_are_told_however_quiet_it_should_be(capsys: Capture) -> None:
    run(["-q", "raise", "failed"], REGISTRY)

    assert capsys.readouterr().err.startswith("error[fake.problem]")


@pytest.mark.parametrize("arguments", [["pets", "-v", "list"], ["pets", "list", "--no-color"]])
def test_a_group_takes_them_too(arguments: list[str], capsys: Capture) -> None:
    assert run(arguments, REGISTRY) == 0
    assert "Bella" in capsys.readouterr().out
