"""What controllers know of a cluster without asking for all of it."""

from __future__ import annotations

from typing import Any

from stockman_lab.etcd.keyspace import Change
from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.objects import Object, metadata_of

from lab.tests.kube.asking import Served, served

PODS = "/api/v1/namespaces/default/pods"
SETS = "/apis/apps/v1/namespaces/default/replicasets"


def pod(name: str, **more: Any) -> Object:
    container = {"name": "wool", "image": "example/wool:1"}
    metadata = {"name": name, **more.pop("metadata", {})}
    return {"metadata": metadata, "spec": {"containers": [container], **more}}


def watched() -> tuple[Served, Objects]:
    server = served()
    objects = Objects(server.api.store)
    objects.changes(0)
    return server, objects


def names(found: list[Object]) -> list[str]:
    return [str(metadata_of(one)["name"]) for one in found]


def test_a_list_is_the_same_until_one_of_its_kind_changes() -> None:
    server, objects = watched()
    server.ask("POST", PODS, pod("sheep"))
    first = objects.listed("pods")
    server.ask("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "wool"}})
    assert objects.listed("pods") is first

    server.ask("POST", PODS, pod("goat"))
    assert names(objects.listed("pods")) == ["goat", "sheep"]
    assert names(first) == ["sheep"]


def test_pods_of_a_node_are_known_until_they_are_gone() -> None:
    server, objects = watched()
    since, _ = objects.changes(0)
    server.ask("POST", PODS, pod("sheep", nodeName="meadow"))
    server.ask("POST", PODS, pod("goat"))
    since, _ = objects.changes(since)
    assert names(objects.pods_on("meadow")) == ["sheep"]

    server.ask("DELETE", f"{PODS}/sheep?gracePeriodSeconds=0")
    objects.changes(since)
    assert objects.pods_on("meadow") == []


def test_what_nobody_controls_may_be_claimed_and_what_others_control_may_not() -> None:
    server, objects = watched()
    since, _ = objects.changes(0)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "flock", "controller": True}
    server.ask("POST", PODS, pod("mine", metadata={"ownerReferences": [{**owner, "uid": "1"}]}))
    server.ask("POST", PODS, pod("theirs", metadata={"ownerReferences": [{**owner, "uid": "2"}]}))
    server.ask("POST", PODS, pod("free"))
    objects.changes(since)

    assert names(objects.claimable("pods", "default", "1")) == ["free", "mine"]
    assert objects.claimable("pods", "elsewhere", "3") == []


def test_what_is_no_object_is_passed_over() -> None:
    server, objects = watched()
    server.ask("POST", PODS, pod("sheep"))
    change = Change(server.api.store.keyspace)
    change.put(b"/registry/pods/default/wolf", b"\x00\x01")
    change.commit()
    newest, changes = objects.changes(0)
    assert newest == server.api.store.keyspace.revision
    assert "wolf" not in [one.key.name for one in changes]
    assert names(objects.listed("pods")) == ["sheep"]
    assert objects.get("pods", "default/wolf") is None
