"""What holds for every command there is, now and later."""

import re
from collections.abc import Iterator

import click
import pytest
from stockman_lab.commands.registry import COMMANDS as LAB_COMMANDS

from stockman.cli import overview as flags
from stockman.cli.command import Command
from stockman.cli.edge import run
from stockman.cli.group import Group, Program, load
from stockman.cli.overview import overview
from stockman.cli.registry import COMMANDS, EXAMPLES, SECTIONS, Registry, by_section, children
from stockman.cli.terminal.layout import examples
from tests.cli.fake_commands import REGISTRY

EVERY = [
    pytest.param(registry, name, id=f"{whose} {name}")
    for whose, registry in (("real", COMMANDS), ("lab", LAB_COMMANDS), ("fake", REGISTRY))
    for name in registry
    if name != "absent" and not registry[name].extra
]


@pytest.mark.parametrize(("registry", "name"), EVERY)
def test_the_short_help_is_the_first_line_of_the_docstring(registry: Registry, name: str) -> None:
    command = load(registry[name].target)

    assert registry[name].help == (command.help or "").partition("\n")[0].strip()


@pytest.mark.parametrize(("registry", "name"), EVERY)
def test_a_command_has_the_name_it_is_registered_under(registry: Registry, name: str) -> None:
    assert load(registry[name].target).name == name.rpartition(" ")[2]


@pytest.mark.parametrize(("registry", "name"), EVERY)
def test_the_short_help_is_one_sentence_of_plain_ascii(registry: Registry, name: str) -> None:
    assert re.fullmatch(r"[A-Z`][ -~]{5,80}\.", registry[name].help)


@pytest.mark.parametrize(("registry", "name"), EVERY)
def test_a_command_stands_under_a_known_heading(registry: Registry, name: str) -> None:
    assert registry[name].section in SECTIONS


@pytest.mark.parametrize(("registry", "name"), EVERY)
def test_a_command_inside_a_group_has_that_group(registry: Registry, name: str) -> None:
    parent = name.rpartition(" ")[0]

    assert not parent or isinstance(load(registry[parent].target), Group)


@pytest.mark.parametrize(("registry", "name"), EVERY)
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_help_fits_and_has_examples(
    registry: Registry,
    name: str,
    columns: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))

    assert run([*name.split(), "--help"], registry) == 0

    text = capsys.readouterr().out
    assert "\nExamples:\n" in text
    assert "\nCommon options:\n" in text
    assert list(_too_long(text, min(columns, 100))) == []


@pytest.mark.parametrize(("registry", "name"), EVERY)
def test_the_short_form_of_help_is_the_same(
    registry: Registry, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run([*name.split(), "--help"], registry)
    long = capsys.readouterr().out
    run([*name.split(), "-h"], registry)

    assert capsys.readouterr().out == long


@pytest.mark.parametrize(("registry", "name"), EVERY)
def test_every_example_calls_the_command_it_stands_at(registry: Registry, name: str) -> None:
    command = load(registry[name].target)

    assert isinstance(command, Command)
    assert command.examples
    assert all(re.search(rf"\bstockman\b.* {name}\b", line) for line in command.examples)


def test_every_example_of_the_overview_calls_a_command_that_exists() -> None:
    rows = [re.findall(r"stockman (?:-C \S+ )?([a-z]+)", line) for line in EXAMPLES]

    assert all(row and set(row) <= set(COMMANDS) for row in rows)


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("registry", [COMMANDS, REGISTRY])
def test_the_overview_lists_every_command_with_its_help(registry: Registry, columns: int) -> None:
    text = overview(registry, columns)
    flat = " ".join(text.split())

    assert all(f"{name} {entry.help}" in flat for name, entry in children(registry, "").items())
    assert list(_too_long(text, columns)) == []


def test_the_overview_lists_the_options_the_program_has() -> None:
    program = Program(COMMANDS)
    context = program.make_context("stockman", [], resilient_parsing=True)
    taken = {tuple(param.opts) for param in program.get_params(context)}

    assert taken == {flag.names for flag in flags.ROOT}


def test_the_overview_needs_no_module_of_a_command() -> None:
    assert "absent" in overview(REGISTRY, 80)


def test_headings_keep_their_order_whatever_the_order_of_the_registry() -> None:
    assert list(by_section(children(REGISTRY, ""))) == list(SECTIONS)


def test_a_group_lists_only_what_is_directly_inside() -> None:
    assert list(children(REGISTRY, "pets")) == ["list", "feed"]
    assert "pets list" not in children(REGISTRY, "")


def test_a_group_lists_its_commands_in_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    run(["pets", "--help"], REGISTRY)

    text = capsys.readouterr().out
    assert "\nCommands:\n  list  List every pet.\n  feed  Feed one pet.\n" in text


def test_an_entry_that_points_to_no_command_is_a_bug() -> None:
    entry = REGISTRY["tell"]._replace(target="stockman.cli.registry:PROGRAM")

    with pytest.raises(TypeError, match="is not a command"):
        load(entry.target)


def test_a_long_example_is_continued_with_backslashes() -> None:
    lines = list(examples({"stockman do 'one thing' and another": "do it"}, 24))

    assert lines == ["  # do it", "  stockman do \\", "      'one thing' and \\", "      another"]


def test_program_is_a_click_command() -> None:
    assert isinstance(Program(COMMANDS), click.Group)


def _too_long(text: str, width: int) -> Iterator[str]:
    """Lines beyond the width that could have been broken, and lines with trailing spaces."""
    for line in text.splitlines():
        texts = line.strip().removesuffix(" \\").removeprefix("# ").split(" ")
        if line != line.rstrip() or (len(line) > width and len(texts) > 1):
            yield line


def test_help_has_both_forms_whoever_asked_first() -> None:
    command = load(COMMANDS["completion"].target)
    bare = click.Context(command)

    assert command.get_help_option_names(bare) == ["-h", "--help"]
