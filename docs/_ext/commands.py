"""Pages of the commands, generated from the registry and the parser."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click
from stockman_lab.commands.registry import COMMANDS as LAB_COMMANDS

from docs._ext.link_targets import of_command
from docs._ext.markdown import block, code, contents, page, table
from stockman.cli import overview
from stockman.cli.command import Command
from stockman.cli.group import load
from stockman.cli.registry import COMMANDS as PRODUCT_COMMANDS
from stockman.cli.registry import PROGRAM, SECTIONS, by_section, children

COMMANDS = {**PRODUCT_COMMANDS, **LAB_COMMANDS}

_OPTION = re.compile(r"(?<![\w`-])(--?[a-z][a-z-]*)")


def pages() -> dict[str, str]:
    """Return page texts by path below `docs`, without suffix."""
    texts = {of_command("").page: _overview()}
    for name in COMMANDS:
        texts[of_command(name).page] = _command(name)
    return texts


def find_command(name: str) -> click.Command:
    """Import and return a command of the registry."""
    return load(COMMANDS[name].target)


def _overview() -> str:
    return page(
        "# Commands",
        "",
        "`stockman COMMAND --help` prints the same texts. See also the conventions of",
        "[all commands](../../command-line.md).",
        "",
        *_sections(),
        "## Options of every command",
        "",
        table(("Option", "Meaning"), ((code(flag.usage), flag.help) for flag in overview.ROOT)),
        contents(name.replace(" ", "-") for name in COMMANDS),
    )


def _sections() -> Iterator[str]:
    rows = by_section(COMMANDS)
    for section in SECTIONS:
        yield f"## {section}"
        yield ""
        yield from table(
            ("Command", "Meaning"),
            ((code(f"{PROGRAM} {name}"), meaning) for name, meaning in rows.get(section, ())),
        )


def _command(name: str) -> str:
    command = find_command(name)
    context = _context(name, command)
    return page(
        f"# {PROGRAM} {name}",
        "",
        *_help(command),
        block(f"{context.command_path} {' '.join(command.collect_usage_pieces(context))}", "text"),
        _inner(name),
        _options(command, context),
        _examples(command),
        "Common options, such as `-C`, are listed in the [overview](index.md).",
    )


def _context(name: str, command: click.Command) -> click.Context:
    outer, _, last = name.rpartition(" ")
    parent = click.Context(click.Group(PROGRAM), info_name=f"{PROGRAM} {outer}".strip())
    return click.Context(command, parent=parent, info_name=last)


def _help(command: click.Command) -> Iterator[str]:
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        yield _OPTION.sub(r"`\1`", paragraph)
        yield ""


def _inner(name: str) -> Iterator[str]:
    inner = children(COMMANDS, name)
    if inner:
        yield "## Commands"
        yield ""
        yield from table(
            ("Command", "Meaning"),
            ((code(f"{PROGRAM} {name} {child}"), entry.help) for child, entry in inner.items()),
        )


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    common = {name for flag in (*overview.COMMON, overview.HELP) for name in flag.names}
    rows = [
        (code(record[0]), record[1])
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
        and not common.intersection(parameter.opts)
        and (record := parameter.get_help_record(context)) is not None
    ]
    if rows:
        yield "## Options"
        yield ""
        yield from table(("Option", "Meaning"), rows)


def _examples(command: click.Command) -> Iterator[str]:
    if isinstance(command, Command):
        yield "## Examples"
        yield ""
        lines = [f"# {comment}\n{line}" for line, comment in command.examples.items()]
        yield from block("\n".join(lines), "sh")
