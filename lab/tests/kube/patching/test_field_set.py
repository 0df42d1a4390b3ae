"""Sets of fields, as they are written and read."""

from __future__ import annotations

from typing import Any

from stockman_lab.kube.patching.field_set import (
    FieldSet,
    key_element,
    read_field_set,
    value_element,
    written_path,
)

WRITTEN: dict[str, Any] = {
    "f:metadata": {"f:finalizers": {".": {}, 'v:"a/b"': {}}},
    "f:spec": {
        "f:ports": {
            ".": {},
            'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}},
            'k:{"port":443,"protocol":"TCP"}': {".": {}, "f:port": {}},
        },
        "f:type": {},
    },
}


def test_what_is_read_is_written_again_in_the_same_order() -> None:
    content = read_field_set(WRITTEN).content

    assert content == WRITTEN
    assert list(content["f:spec"]["f:ports"]) == list(WRITTEN["f:spec"]["f:ports"])


def test_sets_are_joined_cut_and_taken_from_each_other() -> None:
    field_set, other = FieldSet(), FieldSet()
    field_set.add(("f:a", "f:b"))
    field_set.add(("f:c",))
    other.add(("f:a", "f:b"))
    other.add(("f:a",))

    assert field_set.union(other).content == {"f:a": {".": {}, "f:b": {}}, "f:c": {}}
    assert field_set.intersection(other).content == {"f:a": {"f:b": {}}}
    assert field_set.difference(other).content == {"f:c": {}}
    assert not field_set.difference(field_set)


def test_paths_are_written_as_conflicts_name_them() -> None:
    path = ("f:spec", "f:ports", key_element({"protocol": "TCP", "port": 80}), "f:name")

    assert written_path(path) == '.spec.ports[port=80,protocol="TCP"].name'
    assert written_path((value_element("a"),)) == '[="a"]'


def test_sets_that_others_were_made_of_stay_what_they_are() -> None:
    field_set, other = read_field_set(WRITTEN), FieldSet()
    other.add(("f:spec", "f:type"))
    other.add(("f:spec", "f:more"))

    assert field_set.union(other).content["f:spec"].keys() == {"f:ports", "f:type", "f:more"}
    assert field_set.difference(other).content["f:spec"].keys() == {"f:ports"}
    assert field_set.without((("f:spec", "f:ports"), ("f:metadata",))).content == {
        "f:spec": {"f:type": {}}
    }
    assert other.but("f:spec") is other
    assert field_set.content == WRITTEN
    assert other.content == {"f:spec": {"f:more": {}, "f:type": {}}}
