"""Shell completion: the scripts, and the answers they get."""

import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.running import FAKE, REAL, Ran, in_bash, ran

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


def asked(text: str, by: str = "bash", directory: Path | None = None) -> Ran:
    """What the program answers a shell; the last word is the one being typed.

    The directory is the one that the environment names, and home.
    """
    typed = text.split(" ")
    return ran(
        _STOCKMAN_COMPLETE=f"{by}_complete",
        COMP_WORDS=text,
        COMP_CWORD=typed[-1] if by == "fish" else str(len(typed) - 1),
        STOCKMAN_DIR=str(directory or ""),
        HOME=str(directory or ""),
    )


def offered(text: str, directory: Path | None = None) -> list[str]:
    seen = asked(text, directory=directory)

    assert (seen.status, seen.err) == (0, "")
    return seen.out.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_defines_the_completion_of_stockman(shell: str) -> None:
    seen = ran("completion", shell, program=REAL)

    assert (seen.status, seen.err) == (0, "")
    assert "_stockman_completion" in seen.out
    assert f"_STOCKMAN_COMPLETE={shell}_complete" in seen.out


def test_shells_are_values_too() -> None:
    assert offered("stockman completion ") == ["plain,bash", "plain,zsh", "plain,fish"]


def test_commands_are_completed() -> None:
    assert offered("stockman w") == ["plain,wait", "plain,where"]


def test_completing_commands_imports_none_of_them() -> None:
    assert offered("stockman abs") == ["plain,absent"]


def test_commands_inside_groups_are_completed() -> None:
    assert offered("stockman pets ") == ["plain,list", "plain,feed"]


def test_options_are_completed() -> None:
    assert offered("stockman pets list --o") == ["plain,--output"]
    assert "plain,--no-color" in offered("stockman pets list --no")


def test_values_of_options_are_completed() -> None:
    assert offered("stockman pets list -o ") == [
        "plain,table",
        "plain,json",
        "plain,yaml",
        "plain,name",
    ]


def test_a_directory_is_completed_by_the_shell() -> None:
    assert offered("stockman -C ") == ["dir,"]


def test_dynamic_values_are_completed() -> None:
    assert offered("stockman pets feed B") == ["plain,Bella", "plain,Bingo"]


@pytest.mark.parametrize(
    "text",
    [
        "stockman -C {} pets feed --place ",
        "stockman pets feed -C {} --place ",
        "stockman pets -C {} feed Bella --place ",
    ],
)
def test_dynamic_values_come_from_the_directory_of_the_command(text: str, tmp_path: Path) -> None:
    (tmp_path / "kennel").mkdir()

    assert offered(text.format(tmp_path)) == ["plain,kennel"]


def test_a_home_directory_is_expanded_as_the_shell_will(tmp_path: Path) -> None:
    (tmp_path / "farm/kennel").mkdir(parents=True)

    text = "stockman -C ~/farm pets feed --place "

    assert offered(text, tmp_path) == ["plain,kennel"]


def test_the_directory_of_the_environment_counts(tmp_path: Path) -> None:
    (tmp_path / "kennel").mkdir()

    assert offered("stockman pets feed --place ", tmp_path) == ["plain,kennel"]


@pytest.mark.parametrize("option", ["--broken", "--missing"])
def test_values_that_cannot_be_had_are_no_values(option: str) -> None:
    assert offered(f"stockman pets feed {option} ") == []


@pytest.mark.parametrize(
    "text",
    [
        "stockman pets feed --buggy ",
        "stockman -C /not/there pets feed --place x",
        "stockman absent ",
        "stockman pets list --nonsense ",
        "stockman 'open",
    ],
)
def test_a_shell_never_sees_an_error(text: str) -> None:
    seen = asked(text)

    assert (seen.out.strip(), seen.err) == ("", "")


def test_an_unknown_shell_gets_nothing() -> None:
    assert asked("stockman ", by="tcsh") == (1, "", "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_help_stands_beside_commands_where_the_shell_shows_it(shell: str) -> None:
    assert "List every pet." in asked("stockman pets li", by=shell).out


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A directory for $PATH in which `stockman` is a console script."""
    program, script = tmp_path / "stockman", tmp_path / "bin/stockman"
    program.write_text(f"from {FAKE[-1]} import main\nmain()\n", encoding="utf-8")
    script.parent.mkdir()
    command = shlex.join([sys.executable, str(program)])
    script.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return script.parent


@needs_bash
@pytest.mark.parametrize(
    ("text", "replies"),
    [
        ("(stockman wh)", "where"),
        ("(stockman pets li)", "list"),
        ("(stockman pets list -o j)", "json"),
        ("(stockman pets feed B)", "Bella Bingo"),
        ("(stockman pets feed --broken '')", ""),
    ],
)
def test_bash_completes_with_the_script(installed: Path, text: str, replies: str) -> None:
    seen = in_bash(
        f"PATH={installed}:$PATH\n"
        "source <(stockman completion bash)\n"
        "complete -p stockman >/dev/null || exit 9\n"
        f"COMP_WORDS={text}\n"
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
        "_stockman_completion stockman\n"
        'echo "${COMPREPLY[*]}"\n'
    )

    assert seen == (0, f"{replies}\n", "")
