"""JSONPath finds what columns are to show."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.tables.jsonpath import BadPath, first, found

OBJECT: Any = {
    "metadata": {"labels": {"a.b/c": "dotted"}, "name": "x"},
    "spec": {"list": [1, 2, 3], "map": {"b": 1, "a": 2}},
    "status": {
        "conditions": [
            {"type": "Other", "status": "False", "count": 1},
            {"type": "Ready", "status": "True", "count": 5},
        ]
    },
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (".metadata.name", ["x"]),
        ("{.metadata.name}", ["x"]),
        ("$.metadata.name", ["x"]),
        (".metadata.nothing.below", []),
        (r".metadata.labels.a\.b/c", ["dotted"]),
        (".metadata.labels['a\\.b/c']", ["dotted"]),
        ('.metadata["labels"]["a.b/c"]', ["dotted"]),
        (".spec.list[0]", [1]),
        (".spec.list[-1]", [3]),
        (".spec.list[9]", []),
        (".spec.list[*]", [1, 2, 3]),
        (".spec.map.*", [2, 1]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type == 'Ready')].status", ["True"]),
        (".status.conditions[?(@.count != 1)].type", ["Ready"]),
        (".status.conditions[?(@.missing)].type", []),
    ],
)
def test_a_path_leads_to_values(path: str, values: list[object]) -> None:
    assert [*found(path, OBJECT)] == values


def test_only_the_first_value_is_shown() -> None:
    assert first(".spec.list[*]", OBJECT) == 1
    assert first(".nothing", OBJECT) is None


@pytest.mark.parametrize("path", [".a[", ".a[?(b)]", ".a[x"])
def test_a_path_that_cannot_be_read_is_said_so(path: str) -> None:
    with pytest.raises(BadPath):
        first(path, {"a": [1]})
