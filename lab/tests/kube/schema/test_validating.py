"""Custom objects are judged by their schemas, in the words of the real server."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.schema.validating import metadata_error, violations

from lab.tests.kube.widgets import types_with, widget, widgets

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
            {"type": "integer", "format": "int32"},
            1 << 40,
            (
                '<nil>: Invalid value: "": Checked value must be of type integer with format int32'
                " in spec.x"
            ),
        ),
        (
            {**TEXT, "pattern": "^[a-z]$"},
            "A\n",
            "spec.x: Invalid value: \"A\\n\": spec.x in body should match '^[a-z]$'",
        ),
        ({**TEXT, "maxLength": 1}, "ab", "spec.x: Too long: may not be more than 1 bytes"),
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
            "spec.x: Too many: 2: must have at most 1 items",
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
        (
            {**TEXT, "not": {"enum": ["x"]}},
            "x",
            '<nil>: Invalid value: "": "spec.x" must not validate the schema (not)',
        ),
        (
            {**PAIR, "oneOf": EITHER},
            {"a": "", "b": ""},
            (
                '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf).'
                " Found 2 valid alternatives"
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


def test_an_object_without_any_matching_part_is_told_why() -> None:
    assert told({**PAIR, "anyOf": EITHER}, {}) == [
        '<nil>: Invalid value: "": "spec.x" must validate at least one schema (anyOf)',
        "spec.x.a: Required value",
    ]


def test_rules_that_wait_for_better_objects_are_said_to_wait() -> None:
    rules = {"x-kubernetes-validations": [{"rule": "self.x > 1"}], "required": ["x"]}
    made = types_with(rules).type_of("example.org", "v1", "Widget")

    assert [violation.field for violation in violations(made, widget())] == ["spec.x", "<nil>"]


def test_metadata_are_read_as_those_of_all_objects() -> None:
    assert metadata_error(widget()) == ""
    assert metadata_error({"metadata": {"labels": {"a": 1}}}) == (
        "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"
    )
