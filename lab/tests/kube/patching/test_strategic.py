"""Strategic merge patches on the inside of a deployment."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.patching.strategic import BadPatch, strategically_patched
from stockman_lab.kube.schema.types import Types

POD = Types.of_server().type_of("", "v1", "Pod")


def patched(spec: Any, patch: Any) -> Any:
    return strategically_patched({"spec": spec}, {"spec": patch}, POD)["spec"]


def containers(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "image": f"{name}:1"} for name in names]


def test_items_are_found_by_their_key() -> None:
    result = patched(
        {"containers": containers("a", "b")}, {"containers": [{"name": "b", "image": "b:2"}]}
    )

    assert result["containers"] == [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:2"}]


def test_new_items_come_before_those_that_only_the_object_has() -> None:
    result = patched({"containers": containers("a")}, {"containers": containers("z")})

    assert [container["name"] for container in result["containers"]] == ["z", "a"]


def test_an_item_can_be_deleted_and_a_list_replaced() -> None:
    deleted = patched(
        {"containers": containers("a", "b")}, {"containers": [{"name": "a", "$patch": "delete"}]}
    )
    replaced = patched(
        {"containers": containers("a", "b")},
        {"containers": [*containers("c"), {"$patch": "replace"}]},
    )

    assert [container["name"] for container in deleted["containers"]] == ["b"]
    assert [container["name"] for container in replaced["containers"]] == ["c"]


def test_the_order_of_items_can_be_told() -> None:
    result = patched(
        {"containers": containers("a", "b", "c")},
        {"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}]},
    )

    assert [container["name"] for container in result["containers"]] == ["b", "c", "a"]


def test_only_keys_that_are_retained_stay() -> None:
    result = patched(
        {"volumes": [{"name": "v", "emptyDir": {}}]},
        {
            "volumes": [
                {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}}
            ]
        },
    )

    assert result["volumes"] == [{"name": "v", "hostPath": {"path": "/"}}]


def test_words_can_be_deleted_from_a_list_of_words() -> None:
    before = {"metadata": {"finalizers": ["a/x", "b/x", "c/x"]}}
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["b/x"]}}

    result = strategically_patched(before, patch, POD)

    assert result["metadata"]["finalizers"] == ["a/x", "c/x"]


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        (
            {"containers": [{"image": "x"}]},
            "map does not contain declared merge key: name",
        ),
        ({"nodeSelector": {"$patch": "frob"}}, "unknown patch type: frob"),
    ],
)
def test_a_patch_that_makes_no_sense_is_refused(patch: Any, text: str) -> None:
    spec = {"containers": containers("a"), "nodeSelector": {"a": "b"}}

    with pytest.raises(BadPatch) as refused:
        patched(spec, patch)

    assert str(refused.value) == text
