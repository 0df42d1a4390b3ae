"""The boundary of the program: every error ends here as text and an exit status."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import click

from stockman.cli.command import ExtraArguments
from stockman.cli.group import Program, UnknownCommand
from stockman.cli.options import WrongChoice
from stockman.cli.output import Exit
from stockman.cli.registry import COMMANDS, COMPLETION_VARIABLE, PROGRAM, Registry
from stockman.cli.terminal.screen import OutputClosed, Screen, process_screen

if TYPE_CHECKING:
    from stockman.model.errors import StockmanError
    from stockman.model.problem import Problem


def internal_bug(error: Exception) -> Problem:
    """Return the problem of an unexpected exception: its type and location, never its values."""
    from stockman.model.problem import Problem

    return Problem(
        code="internal.bug",
        what="stockman has an internal error",
        where=_error_location(error.__traceback__),
        why=f"an unexpected {type(error).__name__} was raised; this is a bug in stockman",
        fix=(
            "run the command again with `--debug` and report the traceback to the stockman project"
        ),
    )


def _error_location(trace: TracebackType | None) -> str:
    """Return the innermost line of stockman's own code in a traceback."""
    location = ""
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == PROGRAM:
            location = f"{module}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return location


def run(arguments: Sequence[str], registry: Registry = COMMANDS) -> int:
    """Run one command line and return its exit status; prints every problem once."""
    screen = process_screen()
    try:
        return _run(arguments, registry, screen)
    except OutputClosed:
        screen.abandon()
        return Exit.PIPE_CLOSED


def _run(arguments: Sequence[str], registry: Registry, screen: Screen) -> int:
    program = Program(registry)
    completion = os.environ.get(COMPLETION_VARIABLE, "")
    try:
        status = (
            _answer_completion(program, completion)
            if completion
            else _invoke(program, arguments, screen)
        )
        screen.flush()
    except (KeyboardInterrupt, click.Abort):
        return Exit.INTERRUPTED if completion else _report_interrupt(screen)
    except OutputClosed:
        raise
    except Exception as error:  # noqa: BLE001 - the edge: nobody above could tell the user
        if completion:
            screen.abandon()
            return Exit.FAILED
        screen.debug = screen.debug or "--debug" in arguments
        return _report_error(error, screen)
    return status


def _invoke(program: Program, arguments: Sequence[str], screen: Screen) -> int:
    try:
        with program.make_context(
            PROGRAM, list(arguments), obj=screen, terminal_width=screen.help_width
        ) as context:
            return int(program.invoke(context) or Exit.DONE)
    except click.exceptions.Exit as ended:
        return ended.exit_code


def _answer_completion(program: Program, instruction: str) -> int:
    """Answer a completion request of a shell, which must receive nothing but completions."""
    from contextlib import redirect_stderr
    from io import StringIO

    from click.shell_completion import shell_complete

    with redirect_stderr(StringIO()):
        return shell_complete(program, {}, PROGRAM, COMPLETION_VARIABLE, instruction)


def _report_interrupt(screen: Screen) -> Exit:
    start_of_line = "" if screen.notes_width is None else "\n"
    screen.print_problems([f"{start_of_line}interrupted"])
    return Exit.INTERRUPTED


def _report_error(error: Exception, screen: Screen) -> Exit:
    from stockman.model.errors import StockmanError

    if isinstance(error, click.ClickException):
        return _report_usage_error(error, screen)
    if screen.debug:
        from traceback import format_exception

        screen.print_problems([line.rstrip("\n") for line in format_exception(error)])
    if isinstance(error, StockmanError):
        _print(error.problem, screen)
        return _exit_status(error)

    _print(internal_bug(error), screen)
    return Exit.FAILED


def _report_usage_error(error: click.ClickException, screen: Screen) -> Exit:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        screen.print_problems([error.ctx.get_help()])
        return Exit.USAGE
    if isinstance(error, click.UsageError) and error.ctx is not None:
        screen.print_problems([error.ctx.get_usage(), ""])
    _print(usage_problem(error), screen)
    return Exit.USAGE


def _print(problem: Problem, screen: Screen) -> None:
    from stockman.cli.problems import problem_lines

    screen.print_problems(
        problem_lines([problem], paint=screen.notes_paint, width=screen.notes_width)
    )


def _exit_status(error: StockmanError) -> Exit:
    from stockman.model.errors import Refused, WrongUsage

    match error:
        case Refused():
            return Exit.REFUSED
        case WrongUsage():
            return Exit.USAGE
    return Exit.FAILED


CODE = "cli.usage"


def usage_problem(error: click.ClickException) -> Problem:
    """Return the problem of a command line that the parser rejected."""
    from stockman.model.problem import Problem

    ctx = error.ctx if isinstance(error, click.UsageError) else None
    program = ctx.command_path if ctx is not None else "stockman"
    help_ = f"see `{program} --help`"
    match error:
        case UnknownCommand():
            return Problem(
                code=CODE,
                what=f"`{program}` has no command `{error.name}`",
                why=f"its commands are {', '.join(error.known)}",
                fix=_suggestion(error.meant, help_),
            )
        case click.NoSuchOption():
            return Problem(
                code=CODE,
                what=f"`{program}` has no option `{error.option_name}`",
                why=_own_options(ctx),
                fix=_suggestion(next(iter(error.possibilities or ()), None), help_),
            )
        case click.MissingParameter():
            name = _parameter(error)
            return Problem(
                code=CODE,
                what=f"`{program}` needs {name}",
                why=_missing(error.param),
                fix=f"give {name}; {help_}",
            )
        case click.BadParameter():
            meant = error.meant if isinstance(error, WrongChoice) else None
            return Problem(
                code=CODE,
                what=f"invalid value for {_parameter(error)} of `{program}`",
                why=error.message.rstrip("."),
                fix=_suggestion(meant, help_),
            )
        case ExtraArguments():
            arguments = " ".join(error.words)
            return Problem(
                code=CODE,
                what=f"unexpected argument for `{program}`: `{arguments}`",
                why="all its arguments are already given",
                fix=f"remove `{arguments}`; {help_}",
            )
    return Problem(
        code=CODE,
        what=f"invalid command line for `{program}`",
        why=error.format_message().rstrip("."),
        fix=help_,
    )


def _suggestion(suggestion: str | None, otherwise: str) -> str:
    return f"did you mean `{suggestion}`? {otherwise}" if suggestion else otherwise


def _parameter(error: click.BadParameter) -> str:
    hint = error.param_hint
    if hint is None:
        hint = error.param.get_error_hint(error.ctx) if error.param is not None else "a parameter"
    text = hint if isinstance(hint, str) else " / ".join(hint)
    return text.replace("'", "`")


def _missing(param: click.Parameter | None) -> str:
    if param is not None and isinstance(param.type, click.Choice):
        known = [param.type.normalize_choice(choice, None) for choice in param.type.choices]
        return f"choose one of {', '.join(known)}"
    return "it is required"


def _own_options(ctx: click.Context | None) -> str:
    if ctx is None:
        return "the option does not exist"
    names = [
        max(param.opts, key=len)
        for param in ctx.command.get_params(ctx)
        if isinstance(param, click.Option) and not param.hidden
    ]
    after = isinstance(ctx.command, click.Group)
    hint = "; options of a command follow its name" if after else ""
    return f"its options are {', '.join(names)}{hint}"
