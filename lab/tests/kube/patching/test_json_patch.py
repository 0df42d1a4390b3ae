"""JSON patches as the server's library takes them."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.patching.json_patch import Unpatched, json_patched

OBJECT = {"a": {"b": 1, "c/d": 2}, "list": ["x", "y"]}


@pytest.mark.parametrize(
    ("operation", "path", "expected"),
    [
        ({"op": "add", "path": "/a/z", "value": 3}, "a", {"b": 1, "c/d": 2, "z": 3}),
        ({"op": "remove", "path": "/a/c~1d"}, "a", {"b": 1}),
        ({"op": "replace", "path": "/a/new", "value": 3}, "a", {"b": 1, "c/d": 2, "new": 3}),
        ({"op": "add", "path": "/list/0", "value": "w"}, "list", ["w", "x", "y"]),
        ({"op": "add", "path": "/list/-", "value": "z"}, "list", ["x", "y", "z"]),
        ({"op": "remove", "path": "/list/-1"}, "list", ["x"]),
        ({"op": "move", "from": "/list/0", "path": "/list/1"}, "list", ["y", "x"]),
        ({"op": "copy", "from": "/a/b", "path": "/list/-"}, "list", ["x", "y", 1]),
        ({"op": "test", "path": "/a/b", "value": 1}, "a", OBJECT["a"]),
    ],
)
def test_an_operation_does_what_it_says(operation: Any, path: str, expected: Any) -> None:
    assert json_patched(OBJECT, [operation])[path] == expected


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/a/nope"},
        {"op": "remove", "path": "/nope/b"},
        {"op": "add", "path": "/list/9", "value": 1},
        {"op": "add", "path": "/list/x", "value": 1},
        {"op": "replace", "path": "/list/2", "value": 1},
        {"op": "test", "path": "/a/b", "value": 2},
        {"op": "move", "from": "/a/nope", "path": "/a/x"},
        {"op": "frob", "path": "/a"},
        {"op": "add", "path": "", "value": 1},
        {"op": "add", "value": 1},
    ],
)
def test_what_cannot_be_done_is_refused(operation: Any) -> None:
    with pytest.raises(Unpatched):
        json_patched(OBJECT, [operation])


def test_the_object_itself_stays_what_it_was() -> None:
    before = {"a": {"b": [1]}}

    json_patched(before, [{"op": "add", "path": "/a/b/-", "value": 2}])

    assert before == {"a": {"b": [1]}}
