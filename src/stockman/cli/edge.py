"""The edge of the program: whatever happens inside ends here as text and an exit status."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from contextlib import redirect_stderr
from pathlib import Path
from types import TracebackType

import click

from stockman.cli import complete
from stockman.cli.exit import Exit
from stockman.cli.group import Program
from stockman.cli.problems import problem_lines
from stockman.cli.registry import COMMANDS, PROGRAM, Registry
from stockman.cli.screen import Screen, of_process
from stockman.cli.usage import usage_problem
from stockman.model.errors import Refused, StockmanError, WrongUsage
from stockman.model.problem import Problem


def run(arguments: Sequence[str], registry: Registry = COMMANDS) -> int:
    """Run one command line and return its exit status; prints every problem once."""
    screen = of_process()
    try:
        return _run(arguments, registry, screen)
    except BrokenPipeError:
        screen.abandon()
        return Exit.PIPE_CLOSED


def _run(arguments: Sequence[str], registry: Registry, screen: Screen) -> int:
    program = Program(registry)
    asked = os.environ.get(complete.VARIABLE, "")
    try:
        status = _completed(program, asked) if asked else _invoked(program, arguments, screen)
        screen.flush()
    except (KeyboardInterrupt, click.Abort):
        return _interrupted(screen)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the edge: nothing above could tell it to the user
        if asked:
            return Exit.FAILED
        screen.debug = screen.debug or "--debug" in arguments
        return _told(error, screen)
    return status


def _invoked(program: Program, arguments: Sequence[str], screen: Screen) -> int:
    try:
        with program.make_context(
            PROGRAM, list(arguments), obj=screen, terminal_width=screen.help_width
        ) as context:
            return int(program.invoke(context) or Exit.DONE)
    except click.exceptions.Exit as ended:
        return ended.exit_code


def _completed(program: Program, instruction: str) -> int:
    """Answer a shell that asks for completions; it must never see anything but those."""
    from click.shell_completion import shell_complete

    with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere):
        return shell_complete(program, {}, PROGRAM, complete.VARIABLE, instruction)


def _interrupted(screen: Screen) -> Exit:
    start_of_line = "" if screen.notes_width is None else "\n"
    screen.complain([f"{start_of_line}interrupted"])
    return Exit.INTERRUPTED


def _told(error: Exception, screen: Screen) -> Exit:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        screen.complain([error.ctx.get_help()])
        return Exit.USAGE
    if isinstance(error, click.ClickException):
        if isinstance(error, click.UsageError) and error.ctx is not None:
            screen.complain([error.ctx.get_usage(), ""])
        _print(usage_problem(error), screen)
        return Exit.USAGE
    if screen.debug:
        screen.complain([line.rstrip("\n") for line in traceback.format_exception(error)])
    if isinstance(error, StockmanError):
        _print(error.problem, screen)
        return _status(error)
    _print(_bug(error), screen)
    return Exit.FAILED


def _print(problem: Problem, screen: Screen) -> None:
    screen.complain(problem_lines([problem], paint=screen.notes_paint, width=screen.notes_width))


def _status(error: StockmanError) -> Exit:
    match error:
        case Refused():
            return Exit.REFUSED
        case WrongUsage():
            return Exit.USAGE
    return Exit.FAILED


def _bug(error: Exception) -> Problem:
    """What may be told of an unknown exception: its kind and its place, never its values."""
    return Problem(
        code="internal.bug",
        what="stockman met a case that it does not know",
        where=_place(error.__traceback__),
        why=f"{type(error).__name__} was raised and nothing handled it: a mistake in stockman",
        fix="run it again with `--debug` and report the trace to the stockman project",
    )


def _place(trace: TracebackType | None) -> str:
    """The innermost line of ours that an exception passed."""
    place = ""
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == PROGRAM:
            place = f"{module}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place
