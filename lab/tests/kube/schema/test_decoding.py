"""Bodies of requests are read, and values of wrong types and unknown fields are named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.kube.schema.decoding import MOST, complaints, decoding_error
from stockman_lab.kube.schema.reading import TooDeep, Unreadable, read_json
from stockman_lab.kube.schema.types import Types

from lab.tests.kube.widgets import widget, widgets

TYPES = Types.of_server()
POD, SECRET, LEASE = (
    TYPES.type_of(group, "v1", kind)
    for group, kind in (("", "Pod"), ("", "Secret"), ("coordination.k8s.io", "Lease"))
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_json_is_read(value: object) -> None:
    assert read_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize("body", ["", "{", "xx", '{"a":1,}', "[1 2]", '{"a":NaN}'])
def test_other_texts_are_refused(body: str) -> None:
    with pytest.raises(Unreadable):
        read_json(body.encode())


@pytest.mark.parametrize("depth", [300, 100_000])
def test_deep_documents_are_refused(depth: int) -> None:
    with pytest.raises(TooDeep):
        read_json(b"[" * depth + b"]" * depth)


@pytest.mark.parametrize(
    ("expected", "content", "field"),
    [
        (POD, {"metadata": "x"}, "metadata of type v1.ObjectMeta"),
        (POD, {"spec": {"hostNetwork": "x"}}, "spec.hostNetwork of type bool"),
        (POD, {"spec": {"priority": 1 << 31}}, "spec.priority of type int32"),
        (POD, {"spec": {"containers": [{"args": "x"}]}}, "spec.containers.args of type []string"),
        (SECRET, {"data": {"a": "YQ!"}}, "data.a of type []uint8"),
        (LEASE, {"spec": {"renewTime": "yesterday"}}, "spec.renewTime of type v1.MicroTime"),
    ],
)
def test_the_first_wrong_value_is_named_with_its_type(
    expected: Any, content: Any, field: str
) -> None:
    assert decoding_error(expected, content) == (
        f"json: cannot unmarshal value into Go struct field {field}"
    )


@pytest.mark.parametrize(
    ("expected", "content"),
    [
        (POD, {"spec": None, "other": 1, "metadata": {"labels": None}}),
        (SECRET, {"data": {"a": "YQ=="}}),
        (LEASE, {"spec": {"renewTime": "2026-01-01T00:00:00.123456Z"}}),
    ],
)
def test_values_that_fit_are_accepted(expected: Any, content: Any) -> None:
    assert decoding_error(expected, content) == ""


def test_unknown_fields_are_named_by_their_paths_in_the_order_given() -> None:
    content: Any = {"zoo": 1, "spec": {"containers": [{"name": "a", "foo": 1}], "x": 1}}

    assert complaints(POD, content) == [
        'unknown field "zoo"',
        'unknown field "spec.containers[0].foo"',
        'unknown field "spec.x"',
    ]
    assert complaints(POD, {"metadata": {"labels": {"anything": "goes"}}}) == []


def test_the_number_of_complaints_is_limited() -> None:
    content = widget(**{f"x{number}": 1 for number in range(MOST + 10)})

    assert len(complaints(widgets(), content)) == MOST
