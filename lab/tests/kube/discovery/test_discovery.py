"""What is asked of a server about itself is answered by path."""

from __future__ import annotations

import json
from typing import Any

import pytest
from stockman_lab.kube.discovery.discovery import Discovery, Reply
from stockman_lab.kube.schema.types import Types

SERVER = Discovery(Types.of_server(), "v1.36.3", "10.42.0.1:6443")
JSON = "application/json"
STAGED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"


def answer(path: str, accept: str = JSON, **query: list[str]) -> Reply:
    """What the server says to a path."""
    reply = SERVER.reply(path, query, accept)
    assert reply is not None
    return reply


def content(path: str, accept: str = JSON) -> Any:
    """The JSON that it says."""
    return json.loads(answer(path, accept).body)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        *(("/api", "APIVersions"), ("/api/", "APIVersions"), ("/apis", "APIGroupList")),
        *(("/api/v1", "APIResourceList"), ("/apis/apps", "APIGroup")),
        ("/apis/apps/v1", "APIResourceList"),
    ],
)
def test_each_path_has_its_kind(path: str, kind: str) -> None:
    assert content(path)["kind"] == kind


@pytest.mark.parametrize("path", ["/api/v1/pods", "/apis/apps/v9", "/livez/nothing", "/api/v2"])
def test_other_paths_are_left_to_others(path: str) -> None:
    assert SERVER.reply(path, {}, JSON) is None


@pytest.mark.parametrize(
    ("version", "accept", "said"),
    [
        ("v1.36.3", STAGED.format("v2"), "apidiscovery.k8s.io/v2"),
        ("v1.36.3", f"{STAGED.format('v2')},{JSON}", "apidiscovery.k8s.io/v2"),
        ("v1.36.3", f"{STAGED.format('v2beta1')},{JSON}", "v1"),
        ("v1.36.3", JSON, "v1"),
        ("v1.36.3", "*/*", "v1"),
    ],
)
def test_discovery_is_aggregated_for_clients_that_take_it(
    version: str, accept: str, said: str
) -> None:
    server = Discovery(Types.of_server(), version, "10.42.0.1:6443")

    reply = server.reply("/apis", {}, accept)

    assert reply is not None
    assert json.loads(reply.body)["apiVersion"] == said


def test_health_that_fails_is_an_error_of_the_server() -> None:
    whole = SERVER.reply("/readyz", {}, JSON, failing={"etcd"})
    reply = SERVER.reply("/readyz/etcd", {}, JSON, failing={"etcd"})

    assert whole is not None
    assert reply is not None
    assert (whole.status, reply.status) == (500, 500)
    assert answer("/readyz").body == b"ok"
    assert b"[+]ping ok" in answer("/readyz", verbose=[""]).body
