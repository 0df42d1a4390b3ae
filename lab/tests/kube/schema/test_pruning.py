"""Unknown fields of custom objects are dropped, unless they are to be kept."""

from __future__ import annotations

from stockman_lab.kube.schema.pruning import prune

from lab.tests.kube.widgets import widget, widgets

TEXT = {"type": "string"}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def test_unknown_fields_are_dropped_at_every_depth() -> None:
    made = widgets(
        known=TEXT, list={"type": "array", "items": {"type": "object", "properties": {"a": TEXT}}}
    )
    found = widget(known="1", unknown="2", list=[{"a": "1", "b": "2"}, "text"])

    prune(made, found)

    assert found["spec"] == {"known": "1", "list": [{"a": "1"}, "text"]}


def test_what_may_hold_anything_is_kept_whole() -> None:
    made = widgets(any={"x-kubernetes-preserve-unknown-fields": True}, map=OPEN)
    found = widget(any={"a": {"b": 1}}, map={"a": [1]})

    prune(made, found)

    assert found["spec"] == {"any": {"a": {"b": 1}}, "map": {"a": [1]}}


def test_known_fields_of_an_open_object_are_pruned_themselves() -> None:
    closed = {"type": "object", "properties": {"a": TEXT}}
    made = widgets(open={**OPEN, "properties": {"closed": closed}})
    found = widget(open={"closed": {"a": "1", "b": "2"}, "other": {"c": 3}})

    prune(made, found)

    assert found["spec"] == {"open": {"closed": {"a": "1"}, "other": {"c": 3}}}


def test_maps_and_embedded_objects_keep_what_is_theirs() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {}}
    made = widgets(map={"type": "object", "additionalProperties": TEXT}, template=embedded)
    inner = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {}}
    found = widget(map={"a": "1"}, template=inner)

    prune(made, found)

    assert found["spec"]["map"] == {"a": "1"}
    assert found["spec"]["template"].keys() == {"apiVersion", "kind", "metadata"}
