"""Options that several commands share, and the types of their values."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from enum import Enum
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stockman.cli import overview
from stockman.cli.output import Output
from stockman.cli.overview import Flag
from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import escape_control
from stockman.model.pattern import pattern

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from stockman.app.runs.session import SessionContext

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_DIRECTORY = "stockman.directory"


class WrongChoice(click.BadParameter):
    """A value that is not one of the choices."""

    meant: str | None = None


class Choice(click.Choice[T]):
    """A choice of values; enums are given by their value. An error suggests the closest one."""

    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:
        return super().normalize_choice(choice.value if isinstance(choice, Enum) else choice, ctx)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> T:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            from stockman.config.nearest import closest_match

            known = [self.normalize_choice(choice, ctx) for choice in self.choices]
            wrong = WrongChoice(f"{value!r} is not one of {', '.join(known)}", ctx, param)
            wrong.meant = closest_match(str(value), known)
            raise wrong from error


class CommonOption(click.Option):
    """An option that every command accepts, listed separately in help."""

    def __init__(self, flag: Flag, name: str, **attributes: Any) -> None:
        metavar = flag.metavar or None
        super().__init__(
            [*flag.names, name],
            help=flag.help,
            metavar=metavar,
            expose_value=False,
            is_eager=True,
            **attributes,
        )


def common() -> Sequence[click.Option]:
    """Add the common options, which are accepted before and after the command name."""
    return _COMMON


def output_option(forms: Iterable[Output]) -> Callable[[F], F]:
    """Return `-o` with the given formats; the first one is the default."""
    offered = tuple(forms)
    return click.option(
        "-o",
        "--output",
        type=Choice(offered),
        default=offered[0].value,
        show_default=True,
        envvar="STOCKMAN_OUTPUT",
        show_envvar=True,
        help="Output format.",
    )


output = output_option((Output.TABLE, Output.JSON, Output.YAML))
"""`-o` for commands whose data has no names."""

output_or_name = output_option(Output)
"""`-o` for commands that can also print bare names."""

yes_option = click.option("-y", "--yes", is_flag=True, help="Answer all prompts with yes.")


def directory(ctx: click.Context) -> Path:
    """Return the working directory, also during shell completion."""
    from pathlib import Path

    return Path(ctx.meta.get(_DIRECTORY, "."))


def session_context(ctx: click.Context) -> SessionContext:
    """Return the directory, environment, clock and randomness that plans and runs need."""
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.runs.session import SessionContext

    return SessionContext(
        directory=directory(ctx),
        environment=os.environ,
        clock=SystemTimekeeper(),
        entropy=SystemEntropy(),
    )


class _Directory(click.ParamType[str]):
    """An existing directory; during shell completion `~` is not expanded yet."""

    name = "directory"

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        if ctx is not None and ctx.resilient_parsing:
            from pathlib import Path

            value = Path(value).expanduser()
        path = os.fspath(value)
        if os.path.isdir(path) and os.access(path, os.R_OK):  # noqa: PTH112 - before pathlib
            return path
        return str(_existing_directory().convert(path, param, ctx))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return _existing_directory().shell_complete(ctx, param, incomplete)


def _existing_directory() -> click.Path[str]:
    """Return click's type, which reads translations of its error messages when it is created."""
    return click.Path(exists=True, file_okay=False)


def _change_directory(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Change into a directory until the context ends; the environment applies only without -C."""
    if value is None and _DIRECTORY not in ctx.meta and not isinstance(ctx.command, click.Group):
        variable = os.environ.get("STOCKMAN_DIR", "")
        if variable:
            value = _from_environment(variable, param, ctx)
    if value is not None:
        from pathlib import Path

        try:
            ctx.with_resource(contextlib.chdir(value))
        except OSError as error:
            reason = f"cannot change to {value!r}: {error.strerror}"
            raise click.BadParameter(reason, ctx, param) from error
        ctx.meta[_DIRECTORY] = str(Path.cwd())


def _from_environment(value: str, param: click.Parameter, ctx: click.Context) -> str:
    try:
        return _Directory().convert(value, param, ctx)
    except click.BadParameter as error:
        error.param_hint = "$STOCKMAN_DIR"
        raise


def _be_verbose(ctx: click.Context, param: click.Parameter, value: int) -> None:
    del param
    if value and (screen := ctx.find_object(Screen)) is not None:
        screen.verbosity += value
        _show_requests(ctx, screen)


def _show_requests(ctx: click.Context, screen: Screen) -> None:
    """Print requests: changes and failures with `-v`, all of them with `-vv`."""
    import logging

    class RequestLines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            screen.detail(escape_control(record.getMessage()))

    logger = logging.getLogger("stockman.requests")
    logger.setLevel(logging.INFO if screen.verbosity == 1 else logging.DEBUG)
    if logger.handlers:
        return
    logger.propagate = False
    handler = RequestLines()
    logger.addHandler(handler)

    def stop() -> None:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
        logger.propagate = True

    ctx.find_root().call_on_close(stop)


def _turn_on(attribute: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    def turn_on(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        del param
        if value and (screen := ctx.find_object(Screen)) is not None:
            setattr(screen, attribute, True)

    return turn_on


_COMMON = (
    CommonOption(overview.DIRECTORY, "directory_", type=_Directory(), callback=_change_directory),
    CommonOption(overview.VERBOSE, "verbose_", count=True, callback=_be_verbose),
    CommonOption(overview.QUIET, "quiet_", is_flag=True, callback=_turn_on("quiet")),
    CommonOption(overview.NO_COLOR, "no_color_", is_flag=True, callback=_turn_on("colorless")),
    CommonOption(overview.DEBUG, "debug_", is_flag=True, callback=_turn_on("debug")),
)


class Network(click.ParamType[IPv4Network]):
    """An IPv4 network without host bits."""

    name = "cidr"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> IPv4Network:
        if isinstance(value, IPv4Network):
            return value
        try:
            loose = IPv4Network(value, strict=False)
        except ValueError:
            self.fail(f"{value!r} is not an IPv4 network such as 127.66.0.0/16", param, ctx)
        if "/" not in value or str(loose.network_address) != value.partition("/")[0]:
            self.fail(f"{value!r} is an address; the network is {loose}", param, ctx)
        return loose


class Address(click.ParamType[IPv4Address]):
    """An IPv4 address."""

    name = "address"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> IPv4Address:
        try:
            return IPv4Address(value)
        except ValueError:
            self.fail(f"{value!r} is not an IPv4 address such as 127.66.0.1", param, ctx)


NETWORK = Network()
ADDRESS = Address()


_DURATION = pattern(r"(?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")


class Duration(click.ParamType[timedelta]):
    """A duration: `90s`, `10m` or `1h30m`; a bare number is seconds."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = _DURATION.fullmatch(str(value))
        if match is None:
            self.fail(f"{value!r} is not a duration such as 90s, 10m or 1h30m", param, ctx)
        hours, minutes, seconds = (int(group or 0) for group in match.groups())
        return timedelta(hours=hours, minutes=minutes, seconds=seconds)


class MetricsOutput(Enum):
    """Output format."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    PROMETHEUS = "prometheus"


metric_output = click.option(
    "-o",
    "--output",
    type=Choice(MetricsOutput),
    default=MetricsOutput.TABLE.value,
    show_default=True,
    envvar="STOCKMAN_OUTPUT",
    show_envvar=True,
    help="Output format.",
)
