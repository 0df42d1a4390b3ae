"""Fields that are not known or were given twice are complained of."""

from __future__ import annotations

from typing import Any

from stockman_lab.kube.schema.reading import read_json
from stockman_lab.kube.schema.types import Types
from stockman_lab.kube.schema.unknown import MOST, complaints, strict_decoding_error

from lab.tests.kube.widgets import widget, widgets

POD = Types.of_server().type_of("", "v1", "Pod")


def test_unknown_fields_are_named_by_their_paths_in_the_order_given() -> None:
    content: Any = {"zoo": 1, "spec": {"containers": [{"name": "a", "foo": 1}], "x": 1}}

    assert complaints(POD, content) == [
        'unknown field "zoo"',
        'unknown field "spec.containers[0].foo"',
        'unknown field "spec.x"',
    ]


def test_a_field_given_twice_is_complained_of_where_it_comes_again() -> None:
    body = b'{"kind":"Pod","spec":{"nodeName":"a","x":1,"x":2,"nodeName":"b"}}'

    found = read_json(body)

    assert complaints(POD, found) == [
        'unknown field "spec.x"',
        'duplicate field "spec.nodeName"',
    ]
    assert isinstance(found, dict)
    assert found["spec"] == {"nodeName": "b", "x": 2}


def test_labels_are_no_fields() -> None:
    assert complaints(POD, {"metadata": {"labels": {"anything": "goes"}}}) == []


def test_custom_objects_tell_doubles_first_and_the_rest_by_name() -> None:
    made = widgets(size={"type": "integer"}, any={"x-kubernetes-preserve-unknown-fields": True})
    body = b'{"metadata":{"z":1},"spec":{"b":1,"size":1,"size":2,"a":1,"any":{"q":1,"q":2}}}'

    assert complaints(made, read_json(body)) == [
        'duplicate field "spec.size"',
        'duplicate field "spec.any.q"',
        'unknown field "metadata.z"',
        'unknown field "spec.a"',
        'unknown field "spec.b"',
    ]


def test_complaints_come_to_an_end() -> None:
    content = widget(**{f"x{number}": 1 for number in range(MOST + 10)})

    assert len(complaints(widgets(), content)) == MOST


def test_a_strict_server_refuses_with_all_of_them() -> None:
    assert strict_decoding_error(['unknown field "a"', 'unknown field "b"']) == (
        'strict decoding error: unknown field "a", unknown field "b"'
    )
