"""Prompts. Without a terminal, a question without a default is a usage error."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stockman.cli.terminal.screen import current_screen
from stockman.config.nearest import closest_match
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem

Check = Callable[[str], str]
"""Takes an answer and returns the reason why it is invalid, `""` if it is valid."""


def confirm(question: str, *, yes: bool, option: str = "--yes") -> bool:
    """Return whether the user agrees; `yes` is the option that agrees in advance."""
    if yes:
        return True
    screen = current_screen()
    if not screen.can_prompt:
        raise WrongUsage(_no_terminal(question, option))
    while True:
        answer = screen.prompt(f"{question} [y/N] ").strip().lower()
        if answer in ("y", "yes"):
            return True
        if answer in ("", "n", "no"):
            return False
        screen.print_problems(["Please answer y or n."])


def ask(
    question: str,
    *,
    option: str,
    default: str | None = None,
    choices: Sequence[str] = (),
    check: Check | None = None,
) -> str:
    """Return the user's answer; without a terminal the default, or wrong usage if there is none."""
    screen = current_screen()
    if not screen.can_prompt:
        if default is None:
            raise WrongUsage(_no_terminal(question, option))
        return default
    hint = f" ({'|'.join(choices)})" if choices else ""
    preset = f" [{default}]" if default else ""
    while True:
        text = screen.prompt(f"{question}{hint}{preset}: ").strip() or (default or "")
        complaint = _validation_error(text, default, choices, check)
        if not complaint:
            return text
        screen.print_problems([complaint])


def _validation_error(
    text: str, default: str | None, choices: Sequence[str], check: Check | None
) -> str:
    if not text and default is None:
        return "An answer is required. Press Ctrl-C to cancel."
    if choices and text not in choices:
        likely = closest_match(text, choices)
        return f"Did you mean {likely}?" if likely else f"Choose one of: {', '.join(choices)}"
    return check(text) if check is not None else ""


def _no_terminal(question: str, option: str) -> Problem:
    return Problem(
        code="cli.question",
        what="a prompt needs a terminal",
        why=f"the command has to ask: {' '.join(question.split())}",
        fix=f"answer it with `{option}`, or run the command in a terminal",
    )
