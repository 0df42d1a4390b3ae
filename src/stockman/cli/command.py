"""Commands with examples in their help and with the common options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from stockman.cli import options, overview
from stockman.cli.terminal import layout, screen

if TYPE_CHECKING:
    from click.parser import _OptionParser


class ExtraArguments(click.UsageError):
    """Extra arguments that the command does not accept."""

    def __init__(self, arguments: Sequence[str], ctx: click.Context) -> None:
        super().__init__("unexpected extra arguments", ctx)
        self.words = arguments


class HelpFormatter(click.HelpFormatter):
    """A help formatter that works from 40 columns on."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        del prefix
        hanging = " " * len("Usage: ")
        self.write_lines(layout.paragraph(f"Usage: {prog} {args}", self.width, hanging=hanging))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        del col_max, col_spacing
        self.write_lines(layout.definitions(rows, self.width, " " * self.current_indent))

    def write_lines(self, lines: Iterable[str]) -> None:
        self.write("".join(f"{line}\n" for line in lines))


class Context(click.Context):
    """A click context that uses our help formatter."""

    formatter_class = HelpFormatter


class Command(click.Command):
    """A command with examples, which accepts the common options after its name too."""

    context_class = Context
    allow_extra_args = True  # lets `parse_args` report extra arguments

    def __init__(
        self,
        name: str | None,
        *,
        examples: Mapping[str, str],
        params: Sequence[click.Parameter] = (),
        **attributes: Any,
    ) -> None:
        super().__init__(name, params=[*params, *options.common()], **attributes)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        remaining = super().parse_args(ctx, args)
        if remaining and not isinstance(self, click.Group) and not ctx.resilient_parsing:
            raise ExtraArguments(remaining, ctx)
        return remaining

    def make_parser(self, ctx: click.Context) -> _OptionParser:
        parser = super().make_parser(ctx)
        # click looks for `-q` among the long options first, and reports the failure to itself with
        # a translated list of similar options, which takes longer than parsing everything else.
        parser._long_opt.update(parser._short_opt)
        return parser

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        del ctx  # click caches the first answer whatever the context
        return list(overview.HELP.names)

    def get_help_option(self, ctx: click.Context) -> click.Option:
        del ctx
        if self._help_option is None:
            # That of click reads translations of its help text.
            self._help_option = click.Option(
                [*overview.HELP.names, "help_"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                help=overview.HELP.help,
                callback=_print_help,
            )
        return self._help_option

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_arguments(ctx, formatter)
        self.format_examples(formatter)
        self.format_options(ctx, formatter)

    def format_examples(self, formatter: click.HelpFormatter) -> None:
        """Write command lines that can be pasted, each with a description."""
        if self.examples and isinstance(formatter, HelpFormatter):
            formatter.write_paragraph()
            formatter.write_heading("Examples")
            formatter.write_lines(layout.examples(self.examples, formatter.width))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        shared = [*options.common(), self.get_help_option(ctx)]
        own = [param for param in self.get_params(ctx) if param not in shared]
        _write_options(ctx, formatter, "Options", own)
        self.format_commands(ctx, formatter)
        _write_options(ctx, formatter, "Common options", shared)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the subcommands; only a group has any."""


Body = Callable[..., int | None]
"""The body of a command; returns its exit status, None for 0."""


def command(*, examples: Mapping[str, str], name: str | None = None) -> Callable[[Body], Command]:
    """Turn a function into a command; `examples` maps command lines to descriptions."""
    return click.command(name, cls=Command, examples=examples)


def _print_help(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    del param
    if value and not ctx.resilient_parsing:
        screen.current_screen().data(ctx.get_help())
        ctx.exit()


def _write_options(
    ctx: click.Context,
    formatter: click.HelpFormatter,
    heading: str,
    params: Iterable[click.Parameter | None],
) -> None:
    rows = [
        row
        for param in params
        if isinstance(param, click.Option) and (row := param.get_help_record(ctx)) is not None
    ]
    if rows:
        with formatter.section(heading):
            formatter.write_dl(rows)
