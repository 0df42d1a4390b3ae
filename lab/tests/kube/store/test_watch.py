"""Watches: what is seen, and when they end."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.kube.store import watch as watches

from lab.tests.kube.asking import MAPS, MERGE, Served, seen, served


def kinds(events: list[Any]) -> list[tuple[str, str]]:
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events]


def version(server: Served) -> str:
    return str(server.ask("GET", MAPS)["metadata"]["resourceVersion"])


def test_changes_behind_a_version_are_seen_in_order() -> None:
    server = served()
    begin = version(server)
    server.made("a")
    server.ask("PATCH", f"{MAPS}/a", {"data": {"x": "y"}}, MERGE)
    server.ask("DELETE", f"{MAPS}/a")

    events = seen(server.respond("GET", f"{MAPS}?watch=1&resourceVersion={begin}"))

    assert kinds(events) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
    last = events[-1]["object"]["metadata"]["resourceVersion"]
    assert last == str(server.cluster.keyspace.revision)


def test_an_object_that_stops_matching_is_seen_as_deleted() -> None:
    server = served()
    server.made("a")
    begin = version(server)
    for value in ("b", "c", "b"):
        server.ask("PATCH", f"{MAPS}/a", {"metadata": {"labels": {"x": value}}}, MERGE)

    path = f"{MAPS}?watch=1&labelSelector=x%3Db&resourceVersion={begin}"

    assert kinds(seen(server.respond("GET", path))) == [
        ("ADDED", "a"),
        ("DELETED", "a"),
        ("ADDED", "a"),
    ]


def test_initial_events_end_with_a_bookmark() -> None:
    server = served()
    server.made("a")
    query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true"

    events = seen(server.respond("GET", f"{MAPS}?{query}&resourceVersionMatch=NotOlderThan"))

    assert kinds(events) == [("ADDED", "a"), ("BOOKMARK", "")]
    bookmark = events[-1]["object"]["metadata"]
    assert bookmark["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_version_that_is_forgotten_is_too_old() -> None:
    server = served()
    begin = version(server)
    server.made("a")
    server.made("b")
    EtcdClient(server.cluster, server.alive, server.now).compact(server.cluster.keyspace.revision)

    (event,) = seen(server.respond("GET", f"{MAPS}?watch=1&resourceVersion={begin}"))

    assert event["type"] == "ERROR"
    assert event["object"]["code"] == 410
    assert event["object"]["reason"] == "Expired"
    assert event["object"]["message"].startswith(f"too old resource version: {begin} (")


def test_a_watch_ends_with_a_bookmark_when_its_time_is_over() -> None:
    server = served()
    begin = version(server)
    answer = server.respond(
        "GET", f"{MAPS}?watch=1&timeoutSeconds=10&allowWatchBookmarks=true&resourceVersion={begin}"
    )
    server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "elsewhere"}})
    server.now += 10

    events = seen(answer)

    assert [event["type"] for event in events] == ["BOOKMARK"]
    assert int(events[0]["object"]["metadata"]["resourceVersion"]) > int(begin)


def test_who_is_too_slow_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "SLOWEST", 2)
    server = served()
    watch = watches.Watch(
        server.api.store, watches.Wish(b"/registry/configmaps/default/", lambda _: True, 1)
    )
    for name in "abcd":
        server.made(name)

    assert watch.is_too_slow


def test_objects_that_the_lab_wrote_itself_are_seen() -> None:
    server = served()
    begin = version(server)
    server.cluster.keyspace.put(
        b"/registry/configmaps/default/own",
        b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"own","namespace":"default"}}',
    )

    events = seen(server.respond("GET", f"{MAPS}?watch=1&resourceVersion={begin}"))

    assert kinds(events) == [("ADDED", "own")]
    assert server.ask("GET", f"{MAPS}/own")["metadata"]["resourceVersion"] == str(
        server.cluster.keyspace.revision
    )
