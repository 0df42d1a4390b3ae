"""Where objects are kept."""

from __future__ import annotations

import pytest

from stockman.etcd.kubernetes.keys import ObjectKey, read_object_key

PLACES = {
    "/registry/minions/work-01": ObjectKey("nodes", "work-01"),
    "/registry/namespaces/default": ObjectKey("namespaces", "default"),
    "/registry/pods/default/a": ObjectKey("pods", "a", "default"),
    "/registry/services/specs/default/kubernetes": ObjectKey("services", "kubernetes", "default"),
    "/registry/services/endpoints/default/kubernetes": ObjectKey(
        "endpoints", "kubernetes", "default"
    ),
    "/registry/controllers/a/b": ObjectKey("replicationcontrollers", "b", "a"),
    "/registry/ingress/a/b": ObjectKey("ingresses", "b", "a"),
    "/registry/clusterroles/system:node": ObjectKey("clusterroles", "system:node"),
    "/registry/apiextensions.k8s.io/customresourcedefinitions/sheep.farm.example": ObjectKey(
        "customresourcedefinitions", "sheep.farm.example"
    ),
    "/registry/apiregistration.k8s.io/apiservices/v1.apps": ObjectKey("apiservices", "v1.apps"),
    "/registry/farm.example/sheep/meadow/dolly": ObjectKey(
        "sheep", "dolly", "meadow", "farm.example"
    ),
    "/registry/farm.example/farms/one": ObjectKey("farms", "one", group="farm.example"),
}


@pytest.mark.parametrize("key", PLACES)
def test_keys_are_made_and_read(key: str) -> None:
    assert PLACES[key].key.decode() == key
    assert read_object_key(key.encode()) == PLACES[key]


@pytest.mark.parametrize(
    "key",
    [
        b"compact_rev_key",
        b"/registry/",
        b"/registry/pods",
        b"/registry/pods//a",
        b"/registry/pods/a/b/c",
        b"/registry/minions/a/b",
        b"/registry/ranges/servicenodeports",
        b"/registry/masterleases/10.42.0.11",
        b"/registry/farm.example/sheep",
        b"/registry/farm.example/a/b/c/d",
        b"/registry/\xff/a",
    ],
)
def test_other_keys_are_no_objects(key: bytes) -> None:
    assert read_object_key(key) is None
