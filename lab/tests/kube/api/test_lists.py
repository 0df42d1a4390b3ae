"""Lists: parts, versions, and what is said when history is gone."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from stockman_lab.etcd.client import EtcdClient

from lab.tests.kube.asking import MAPS, Served, served


@pytest.fixture
def server() -> Served:
    result = served()
    for number in range(5):
        result.made(f"m{number}", a="b")
    return result


def names(result: dict[str, list[dict[str, dict[str, str]]]]) -> list[str]:
    return [item["metadata"]["name"] for item in result["items"]]


def following(server: Served, token: str, limit: int = 2) -> dict[str, object]:
    answer: dict[str, object] = server.ask(
        "GET", f"{MAPS}?{urlencode({'limit': limit, 'continue': token})}"
    )
    return answer


def test_a_list_comes_in_parts_of_one_moment(server: Served) -> None:
    first = server.ask("GET", f"{MAPS}?limit=2")
    server.made("m11")
    second = following(server, first["metadata"]["continue"])
    third = following(server, second["metadata"]["continue"])  # type: ignore[index]

    assert first["metadata"]["remainingItemCount"] == 3
    assert names(first) == ["m0", "m1"]
    assert names(second) == ["m2", "m3"]  # type: ignore[arg-type]
    assert names(third) == ["m4"]  # type: ignore[arg-type]
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]  # type: ignore[index]
    assert "continue" not in third["metadata"]  # type: ignore[operator]


def test_a_part_of_a_moment_that_is_forgotten_can_be_had_inconsistently(server: Served) -> None:
    first = server.ask("GET", f"{MAPS}?limit=2")
    server.made("m11")
    EtcdClient(server.cluster, server.alive, server.now).compact(server.cluster.keyspace.revision)

    gone = following(server, first["metadata"]["continue"])
    rest = following(server, gone["metadata"]["continue"], 10)  # type: ignore[index]

    assert server.last.status == 200
    assert gone["code"] == 410
    assert gone["reason"] == "Expired"
    assert str(gone["message"]).startswith("The provided continue parameter is too old")
    assert names(rest) == ["m11", "m2", "m3", "m4"]  # type: ignore[arg-type]


def test_an_exact_version_shows_what_was(server: Served) -> None:
    version = server.ask("GET", MAPS)["metadata"]["resourceVersion"]
    server.ask("DELETE", f"{MAPS}/m0")

    exact = server.ask("GET", f"{MAPS}?resourceVersion={version}&resourceVersionMatch=Exact")
    newer = server.ask("GET", f"{MAPS}?resourceVersion={version}&resourceVersionMatch=NotOlderThan")

    assert names(exact) == ["m0", "m1", "m2", "m3", "m4"]
    assert names(newer) == ["m1", "m2", "m3", "m4"]


def test_items_of_a_list_do_not_repeat_their_kind(server: Served) -> None:
    answer = server.ask("GET", MAPS)

    assert answer["kind"] == "ConfigMapList"
    assert "kind" not in answer["items"][0]


def test_a_table_has_rows(server: Served) -> None:
    table = server.ask("GET", MAPS, accept="application/json;as=Table;g=meta.k8s.io;v=v1")

    assert table["kind"] == "Table"
    assert [row["cells"][0] for row in table["rows"]] == ["m0", "m1", "m2", "m3", "m4"]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
