"""Command groups, whose commands are imported only when they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from stockman import __version__
from stockman.cli import overview as flags
from stockman.cli.command import Command
from stockman.cli.overview import overview
from stockman.cli.registry import (
    ENTRY_POINTS,
    EXAMPLES,
    PROGRAM,
    CommandEntry,
    Registry,
    by_section,
    children,
)
from stockman.cli.terminal import screen

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class UnknownCommand(click.UsageError):
    """The name of a command that does not exist."""

    def __init__(self, name: str, known: list[str], ctx: click.Context) -> None:
        from stockman.config.nearest import closest_match

        super().__init__(f"there is no command `{name}`", ctx)
        self.name = name
        self.known = known
        self.meant = closest_match(name, known)


class NotInstalled(click.ClickException):
    """A command of another distribution that is not installed."""

    def __init__(self, name: str, extra: str) -> None:
        super().__init__(
            f"`{PROGRAM} {name}` is not installed: install stockman-talos-{extra} from the place"
            f" where {PROGRAM} came from"
        )


class Group(Command, click.Group):
    """A command that holds the commands registered below it."""

    entries: Registry | None = None
    """The commands of a group of another distribution; None: those of the program's registry."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_entries(ctx))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = _entries(ctx).get(cmd_name)
        if entry is None:
            return None
        if not entry.extra:
            return load(entry.target)
        command = find_contributed(cmd_name)
        if command is None and not ctx.resilient_parsing:
            raise NotInstalled(cmd_name, entry.extra)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args[0] not in known and not ctx.resilient_parsing:
            raise UnknownCommand(args[0], known, ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections = by_section(_entries(ctx))
        for heading, rows in sections.items():
            with formatter.section(heading if len(sections) > 1 else "Commands"):
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=entry.help)
            for name, entry in _entries(ctx).items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)


class Program(Group):
    """The `stockman` command, with the commands of a registry."""

    def __init__(self, registry: Registry) -> None:
        version = click.Option(
            list(flags.VERSION.names),
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help=flags.VERSION.help,
        )
        super().__init__(PROGRAM, examples=EXAMPLES, params=[version])
        self.context_settings = {"help_option_names": list(flags.HELP.names)}
        self.registry = registry

    def get_help(self, ctx: click.Context) -> str:
        return overview(self.registry, ctx.make_formatter().width)


def group(
    *, examples: Mapping[str, str], name: str | None = None, entries: Registry | None = None
) -> Callable[[Callable[[], None]], Group]:
    """Turn a function into a group; the registry lists its commands."""

    def decorate(function: Callable[[], None]) -> Group:
        command = click.group(name, cls=Group, examples=examples)(function)
        command.entries = entries
        return command

    return decorate


def load(target: str) -> click.Command:
    """Import the command that `module:attribute` names."""
    module, _, attribute = target.partition(":")
    command: Any = getattr(import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise TypeError(f"{target} is not a command")
    return command


def find_contributed(path: str) -> click.Command | None:
    """Return the command that another installed distribution contributes under a path."""
    from importlib.metadata import entry_points

    points = entry_points(group=ENTRY_POINTS, name=path)
    return next((load(point.value) for point in points), None)


def _entries(ctx: click.Context) -> dict[str, CommandEntry]:
    if isinstance(ctx.command, Group) and ctx.command.entries is not None:
        return dict(ctx.command.entries)
    names: list[str] = []
    inner = ctx
    while inner.parent is not None:
        names.insert(0, inner.info_name or "")
        inner = inner.parent
    program = inner.command
    return children(program.registry, " ".join(names)) if isinstance(program, Program) else {}


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    del param
    if value and not ctx.resilient_parsing:
        screen.current_screen().data(__version__)
        ctx.exit()


@group(
    examples={
        "stockman secrets status": "list all secret files and whether they changed",
        "stockman secrets edit kubernetes/apps/default/echo/app/secret.sops.yaml": (
            "edit a file in your editor"
        ),
    }
)
def secrets() -> None:
    """Manage encrypted files, without sops and age."""


@group(
    examples={
        "stockman runs list": "list all runs and their results",
        "stockman runs show": "show the newest run",
        "stockman runs resume": "resume the newest run",
    }
)
def runs() -> None:
    """List, show, resume and abort runs."""
