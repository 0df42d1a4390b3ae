"""Rows of the tables of Kubernetes are made from schemas."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.write_kubernetes_tables import marks, short, spelled, written

HOME = "io.k8s.api.apps.v1"


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "integer", "format": "int32"}, "int32"),
        ({"type": "array", "items": {"type": "string"}}, "[string]"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "{string}"),
        ({"$ref": f"#/definitions/{HOME}.DeploymentSpec"}, "DeploymentSpec"),
        ({"allOf": [{"$ref": "#/x/io.k8s.api.core.v1.PodSpec"}]}, "core.v1.PodSpec"),
        ({"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Time"}, "time"),
        (
            {"$ref": "#/definitions/io.k8s.apimachinery.pkg.runtime.RawExtension"},
            "?pkg.runtime.RawExtension",
        ),
    ],
)
def test_types_are_spelled_in_few_characters(schema: dict[str, Any], text: str) -> None:
    assert spelled(schema, HOME) == text


def test_marks_say_how_lists_are_merged_and_what_values_there_are() -> None:
    schema = {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["a", "b"],
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": "a",
        "enum": ["X", "Y"],
    }

    assert [*marks(schema, "X")] == ["l=map:a,b", "p=merge", "k=a", 'd="X"', "e=X|Y"]


def test_names_of_definitions_are_shortened() -> None:
    assert short("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta") == "meta.v1.ObjectMeta"


def test_tables_have_one_line_for_each_entry() -> None:
    assert written({"a": {"b": 1}, "c": {}}) == '{\n"a":{"b":1},\n"c":{}\n}\n'
    assert written([{"a": 1}]) == '[\n{"a":1}\n]\n'
