"""Whether Talos would take an expression."""

from __future__ import annotations

from stockman.talos.validation.expressions.checker import Checker, Unjudged
from stockman.talos.validation.expressions.environments import Environment, messages
from stockman.talos.validation.expressions.syntax import parsed
from stockman.talos.validation.expressions.tokens import WrongExpression
from stockman.talos.validation.part import Part
from stockman.talos.validation.report import Report

_WORDS = {"bool": "true or false", "double": "a number with a fraction"}


def why_wrong(text: str, environment: Environment, minor: int) -> str:
    """What is wrong with an expression. Empty: nothing, or nothing that is judged here."""
    try:
        tree = parsed(text, has_optionals=environment.has_optionals)
        found = Checker(environment, messages(minor)).kind(tree)
    except WrongExpression as error:
        return f"at character {error.at + 1}: {error}"
    except Unjudged:
        return ""
    if found != environment.result:
        return f"it gives {found}, and {_WORDS[environment.result.name]} is needed"
    return ""


def check_expression(report: Report, part: Part, environment: Environment) -> None:
    wrong = why_wrong(part.text, environment, report.minor)
    if wrong:
        report.error(
            "machine.expression",
            part,
            f"{part.name} is no expression that Talos can use",
            why=wrong,
            fix='correct it; an example is disk.transport == "nvme" && disk.size > 100u * GB',
        )
