"""Turn an invalid command line into a problem, with suggestions."""

from __future__ import annotations

import click

from stockman.cli.command import ExtraArguments
from stockman.cli.group import UnknownCommand
from stockman.cli.options import WrongChoice
from stockman.model.problem import Problem

CODE = "cli.usage"


def usage_problem(error: click.ClickException) -> Problem:
    """Return the problem of a command line that the parser rejected."""
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
