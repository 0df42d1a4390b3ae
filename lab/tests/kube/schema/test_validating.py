"""Custom objects are judged by their schemas."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.schema.validating import metadata_error, violations

from lab.tests.kube.widgets import widget, widgets

TEXT = {"type": "string"}
PAIR = {"type": "object", "properties": {"a": TEXT, "b": TEXT}}
EITHER = [{"required": ["a"]}, {"required": ["b"]}]


def told(rule: dict[str, Any], value: object) -> list[str]:
    """What is said of a value under a rule."""
    return [violation.text for violation in violations(widgets(x=rule), widget(x=value))]


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        (
            {"type": "integer"},
            "s",
            'spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"',
        ),
        (
            {"type": "integer", "minimum": 1},
            0,
            "spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1",
        ),
        (
            {**TEXT, "pattern": "^[a-z]$"},
            "A",
            "spec.x: Invalid value: \"A\": spec.x in body should match '^[a-z]$'",
        ),
        (
            {**TEXT, "maxLength": 1},
            "ab",
            'spec.x: Invalid value: "ab": spec.x in body should be at most 1 chars long',
        ),
        (
            {**TEXT, "enum": ["A", "B"]},
            "C",
            'spec.x: Unsupported value: "C": supported values: "A", "B"',
        ),
        (
            {**TEXT, "format": "date-time"},
            "now",
            'spec.x: Invalid value: "now": spec.x in body must be of type date-time: "now"',
        ),
        (
            {"type": "array", "items": TEXT, "maxItems": 1},
            ["a", "b"],
            "spec.x: Invalid value: 2: spec.x in body should be at most 1 items",
        ),
        (
            {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
            ["a", "a"],
            'spec.x[1]: Duplicate value: "a"',
        ),
        (
            {"x-kubernetes-int-or-string": True},
            1.5,
            (
                'spec.x: Invalid value: "number": spec.x in body must be of type integer,string: '
                '"number"'
            ),
        ),
        ({"type": "object", "required": ["a"]}, {}, "spec.x.a: Required value"),
    ],
)
def test_a_broken_rule_is_told(rule: dict[str, Any], value: object, message: str) -> None:
    assert told(rule, value) == [message]


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ({"type": "integer"}, 1.0),
        ({"type": "number"}, 1),
        ({**TEXT, "nullable": True}, None),
        ({"x-kubernetes-int-or-string": True}, "80%"),
        ({**TEXT, "format": "nobody-knows-it"}, "x"),
        ({**TEXT, "pattern": r"^\d+\z"}, "12"),
        ({**PAIR, "anyOf": EITHER}, {"a": ""}),
        ({"type": "object", "additionalProperties": TEXT}, {"a": "b"}),
    ],
)
def test_what_keeps_the_rules_is_well(rule: dict[str, Any], value: object) -> None:
    assert told(rule, value) == []


def test_metadata_are_read_as_those_of_all_objects() -> None:
    assert metadata_error(widget()) == ""
    assert metadata_error({"metadata": {"labels": {"a": 1}}}) == (
        "json: cannot unmarshal value into Go struct field labels.a of type string"
    )
