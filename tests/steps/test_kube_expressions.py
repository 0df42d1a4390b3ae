"""Conditions over objects, judged."""

from __future__ import annotations

from typing import Any

import pytest

from stockman.catalog.registry import components
from stockman.steps.kubernetes.cel import UnsupportedExpression, evaluate_condition

READY = "object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"


def told(kind: str, status: str) -> Any:
    return {"status": {"conditions": [{"type": kind, "status": status}]}}


@pytest.mark.parametrize(
    ("expression", "content", "expected"),
    [
        (READY, told("Ready", "True"), True),
        (READY, told("Ready", "False"), False),
        (READY, {"status": {}}, False),
        ("object.status.numberReady == 3", {"status": {"numberReady": 3}}, True),
        ("object.status.succeeded >= 1", {"status": {"succeeded": 0}}, False),
        ("size(object.spec.groups) > 0", {"spec": {"groups": [1]}}, True),
        ("!has(object.spec.claimRef) || object.spec.claimRef.name != 'a'", {"spec": {}}, True),
        ("has(object.spec.id) && object.spec.id != ''", {"spec": {"id": ""}}, False),
        ("object.a.b == 1 || object.c == 2", {"c": 2}, True),
        ("object.a.b == 1 && object.c == 2", {"c": 3}, False),
        ("object.kinds.all(k, k.startsWith('x')) && 'xa' in object.kinds", {"kinds": ["xa"]}, True),
        ("object.n > 1 ? true : object.m[0] == 'a'", {"n": 0, "m": ["a"]}, True),
    ],
)
def test_an_expression_holds_or_does_not(expression: str, content: Any, expected: bool) -> None:
    assert evaluate_condition(expression, content) is expected


def test_what_is_not_known_is_no_answer() -> None:
    with pytest.raises(UnsupportedExpression):
        evaluate_condition("timestamp(object.a) == object.b", {"a": "x", "b": "y"})


def test_every_condition_of_the_catalog_can_be_judged() -> None:
    conditions = [
        one
        for found in components()
        for one in (
            *found.ready,
            *(
                (*found.smoke_test.until, *found.smoke_test.gone)
                if found.smoke_test is not None
                else ()
            ),
        )
    ]

    judged = [evaluate_condition(condition.expr, {}) for condition in conditions]

    assert len(judged) > 20
    assert not all(judged)
