"""Questions to the user: asked on a terminal, never guessed without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stockman.cli.options import closest_match
from stockman.cli.terminal.screen import current_screen
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem

Check = Callable[[str], str]
"""Takes an answer and returns what is wrong with it, `""` if nothing is."""


def confirm(question: str, *, yes: bool, option: str = "--yes") -> bool:
    """Whether the user agrees; `yes` is the option that agrees beforehand."""
    if yes:
        return True
    screen = current_screen()
    if not screen.can_ask:
        raise WrongUsage(_no_terminal(question, option))
    while True:
        answer = screen.prompt(f"{question} [y/N] ").strip().lower()
        if answer in ("y", "yes"):
            return True
        if answer in ("", "n", "no"):
            return False
        screen.complain(["answer y or n"])


def ask(
    question: str,
    *,
    option: str,
    default: str | None = None,
    choices: Sequence[str] = (),
    check: Check | None = None,
) -> str:
    """What the user answers; without a terminal the default, and without that wrong usage."""
    screen = current_screen()
    if not screen.can_ask:
        if default is None:
            raise WrongUsage(_no_terminal(question, option))
        return default
    hint = f" ({'|'.join(choices)})" if choices else ""
    preset = f" [{default}]" if default else ""
    while True:
        given = screen.prompt(f"{question}{hint}{preset}: ").strip() or (default or "")
        complaint = _validation_error(given, default, choices, check)
        if not complaint:
            return given
        screen.complain([complaint])


def _validation_error(
    given: str, default: str | None, choices: Sequence[str], check: Check | None
) -> str:
    if not given and default is None:
        return "an answer is needed; Ctrl-C stops here"
    if choices and given not in choices:
        likely = closest_match(given, choices)
        return f"did you mean {likely}?" if likely else f"one of {', '.join(choices)}"
    return check(given) if check is not None else ""


def _no_terminal(question: str, option: str) -> Problem:
    return Problem(
        code="cli.question",
        what="there is a question and no terminal to ask it on",
        why=f"the question is: {' '.join(question.split())}",
        fix=f"answer it on the command line with `{option}`, or run the command on a terminal",
    )
