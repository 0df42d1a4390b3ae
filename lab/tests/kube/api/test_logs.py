"""Logs of pods through the API server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from stockman_lab.kube.api.messages import Request, Response, User, read_query

from lab.tests.kube.nodes.running import PODS, Running, up


@pytest.fixture
def cluster() -> Running:
    running = up("n1")
    running.pod()
    running.settle()
    running.advance(300)
    return running


def respond(cluster: Running, query: str = "") -> Response:
    user = User("admin", ("system:masters",))
    return cluster.api.handle(Request("GET", f"{PODS}/one/log", read_query(query), {}, b"", user))


def lines(cluster: Running, query: str = "") -> list[str]:
    answer = respond(cluster, query)
    assert answer.status == 200, answer.body
    return answer.body.decode().splitlines()


def changed(cluster: Running, path: str, status: Any) -> None:
    assert "status" in cluster.ask("PATCH", f"{path}/status", {"status": status})


def test_all_lines_of_a_container_are_told(cluster: Running) -> None:
    result = lines(cluster)

    assert 'msg="starting"' in result[0]
    assert len(result) > 5


def test_the_last_lines_are_told(cluster: Running) -> None:
    assert lines(cluster, "tailLines=2") == lines(cluster)[-2:]
    assert lines(cluster, "tailLines=0") == []


def test_lines_of_the_last_seconds_are_told(cluster: Running) -> None:
    assert 0 < len(lines(cluster, "sinceSeconds=100")) < len(lines(cluster))


def test_lines_have_times_for_those_who_want_them(cluster: Running) -> None:
    whole = lines(cluster, "timestamps=true")

    assert [item.partition("Z ")[2] for item in whole] == lines(cluster)


def test_no_more_bytes_are_told_than_wanted(cluster: Running) -> None:
    assert respond(cluster, "limitBytes=7").body == respond(cluster).body[:7]


def test_a_container_that_never_ended_has_no_earlier_log(cluster: Running) -> None:
    answer = respond(cluster, "previous=true")

    assert answer.status == 400
    assert rb"previous terminated container \"main\" in pod \"one\" not found" in answer.body


def test_nobody_answers_for_a_node_that_is_lost(cluster: Running) -> None:
    node = cluster.node()
    conditions = [{**condition, "status": "Unknown"} for condition in node["status"]["conditions"]]
    changed(cluster, "/api/v1/nodes/n1", {"conditions": conditions})

    answer = respond(cluster)

    assert answer.status == 500
    assert b"connect: no route to host" in answer.body


def test_new_lines_follow_until_the_container_is_gone(cluster: Running) -> None:
    async def work() -> bytes:
        answer = respond(cluster, "follow=true&tailLines=1")
        assert answer.stream is not None
        first = await anext(answer.stream)
        following = asyncio.ensure_future(anext(answer.stream, b""))
        await asyncio.wait([following], timeout=0)
        cluster.advance(120)
        cluster.api.store.bell.ring()
        return first + await following

    result = asyncio.run(work()).decode().splitlines()

    assert result == lines(cluster)[-len(result) :]
    assert len(result) > 1
