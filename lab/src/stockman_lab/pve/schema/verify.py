"""Verification of parameters: all mistakes of a request at once, in the words of the real API.

A request is treated in this order: `merged`, then the check of the caller's rights, then
`verified`. A parameter that is not fit therefore shows only to who may make the call.
"""

from __future__ import annotations

from collections.abc import Mapping

from stockman_lab.pve.errors import bad_parameters
from stockman_lab.pve.schema.operation import Operation
from stockman_lab.pve.schema.rule import (
    CONFLICT,
    MISSING,
    NOT_DEFINED,
    REFUSED,
    add_problem,
    needs_text,
    text_of,
)
from stockman_lab.pve.schema.schema import Routed

Given = Mapping[str, object]
"""Parameters as they came: texts, lists of texts from repeated keys, or what JSON can hold."""

NO_CACHE = "_dc"


def merge_parameters(routed: Routed, given: Given) -> dict[str, object]:
    """Parameters of the path and of query and body together, without the one against caches.

    A parameter may be given in both places if the values agree.
    """
    arguments: dict[str, object] = dict(routed.arguments)
    if not given:
        return arguments
    for name in sorted(given):
        if name == NO_CACHE:
            continue
        value = given[name]
        if name in routed.arguments and routed.arguments[name] != text_of(value):
            raise bad_parameters({name: CONFLICT})
        arguments[name] = value
    return arguments


def verify(operation: Operation, given: Given) -> dict[str, object]:
    """The parameters in their kinds; raises the refusal that names every mistake.

    Booleans become 1 or 0, integers int, arrays lists. Numbers and strings stay texts, as the
    real API keeps them. Nothing is filled in, and what is null counts as not given.
    """
    rules = operation.rules
    errors: dict[str, str] = {}
    values: dict[str, object] = {}
    for name, value in given.items():
        rule = rules.get(name)
        if rule is not None and rule.chosen_by:
            rule = rule.variant(given.get(rule.chosen_by))
        if rule is None:
            if not operation.takes_others or name in rules:
                add_problem(errors, name, NOT_DEFINED)
            else:
                values[name] = value
        elif value is not None:
            typed = rule.typed(value, name, errors)
            if typed is not REFUSED:
                values[name] = typed
    for name in operation.required:
        if given.get(name) is None:
            add_problem(errors, name, MISSING)
    for name, needed in operation.needs.items():
        if name in given and given.get(needed) is None:
            add_problem(errors, needed, needs_text(operation.profile, name))
    if errors:
        raise bad_parameters(errors)
    return values
