"""Variables are replaced as talhelper does it."""

from __future__ import annotations

import pytest

from stockman.model.problem import Problem
from stockman.talos.imports.talhelper.node_keys import (
    HIDDEN_VALUE_PREFIX,
    Variables,
    substitute_variables,
)

KNOWN = Variables(values={"A": "one", "EMPTY": ""}, hidden=frozenset({"SECRET"}))


def replaced(text: str) -> tuple[str, list[Problem]]:
    problems: list[Problem] = []
    return substitute_variables("talconfig.yaml", text, KNOWN, problems.append), problems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: ${A}\n", "a: one\n"),
        ("a: $A-x\n", "a: one-x\n"),
        ("$$patch: delete\n", "$patch: delete\n"),
        ("a: cost $$5, $${A}\n", "a: cost $5, ${A}\n"),
        ("a: ${B:-two}\n", "a: two\n"),
        ("a: ${B-two} ${EMPTY:-three} ${EMPTY-four}\n", "a: two three \n"),
        ("a: ${A:+yes}${B:+no}\n", "a: yes\n"),
        ("a: 5$\n", "a: 5$\n"),
        ("a: ${A} # not ${B}\n", "a: one # not ${B}\n"),
        ("# ${B}\na: b\n", "# ${B}\na: b\n"),
        ("a: |\n  # ${A}\n", "a: |\n  # one\n"),
    ],
)
def test_variables_are_replaced_outside_of_comments(text: str, expected: str) -> None:
    assert replaced(text) == (expected, [])


@pytest.mark.parametrize("text", ["a: b\nc: ${B}\n", "a: b\nc: ${EMPTY}\n", "a: b\nc: ${!A}\n"])
def test_what_has_no_value_is_told_with_its_place(text: str) -> None:
    left, (problem,) = replaced(text)

    assert left == text
    assert (problem.code, str(problem.where)) == ("import.variable", "talconfig.yaml:2:4")


def test_an_encrypted_value_is_marked_and_never_asked_for() -> None:
    assert replaced("a: x-${SECRET}\n") == (f"a: x-{HIDDEN_VALUE_PREFIX}SECRET\n", [])
