"""What is asked of a server about itself is answered by path."""

from __future__ import annotations

import json
from typing import Any

import pytest
from stockman_lab.kube.discovery.discovery import Discovery, Reply
from stockman_lab.kube.schema.types import Types

from lab.tests.kube.widgets import types_with

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


@pytest.mark.parametrize("path", ["/api/v1/pods", "/apis/apps/v9", "/metrics", "/api/v2"])
def test_other_paths_are_left_to_others(path: str) -> None:
    assert SERVER.reply(path, {}, JSON) is None


@pytest.mark.parametrize("path", ["/apis/nothing", "/apis/nothing/v1", "/livez/nothing"])
def test_groups_and_checks_that_are_not_there_are_pages_not_found(path: str) -> None:
    found = answer(path)

    assert (found.status, found.body) == (404, b"404 page not found\n")


@pytest.mark.parametrize(
    ("version", "accept", "said"),
    [
        ("v1.36.3", STAGED.format("v2"), "apidiscovery.k8s.io/v2"),
        ("v1.36.3", f"{STAGED.format('v2')},{JSON}", "apidiscovery.k8s.io/v2"),
        ("v1.36.3", f"{STAGED.format('v2beta1')},{JSON}", "v1"),
        ("v1.33.1", STAGED.format("v2beta1"), "apidiscovery.k8s.io/v2beta1"),
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


def test_a_client_that_takes_nothing_of_it_is_refused() -> None:
    found = answer("/apis/apps", STAGED.format("v2"))

    assert found.status == 406
    assert json.loads(found.body)["reason"] == "NotAcceptable"


def test_health_that_fails_is_an_error_of_the_server() -> None:
    whole = SERVER.reply("/readyz", {}, JSON, failing={"etcd"})
    reply = SERVER.reply("/readyz/etcd", {}, JSON, failing={"etcd"})

    assert whole is not None
    assert reply is not None
    assert (whole.status, reply.status) == (500, 500)
    assert answer("/readyz").body == b"ok"
    assert b"[+]ping ok" in answer("/readyz", verbose=[""]).body


def test_documents_are_found_under_the_places_that_the_index_names() -> None:
    index = content("/openapi/v3")["paths"]

    path, _, hashed = index["apis/apps/v1"]["serverRelativeURL"].partition("?hash=")

    reply = SERVER.reply(path, {"hash": [hashed]}, JSON)
    assert reply is not None
    assert reply.headers["Cache-Control"] == "public, immutable"
    assert json.loads(reply.body)["openapi"] == "3.0.0"
    assert answer("/openapi/v3/apis/nothing/v1").status == 404


def test_the_place_of_a_document_changes_with_what_it_says() -> None:
    def place(spec: dict[str, Any]) -> str:
        server = Discovery(types_with(spec), "v1.36.3", "10.42.0.1:6443")
        reply = server.reply("/openapi/v3", {}, JSON)
        assert reply is not None
        return str(json.loads(reply.body)["paths"]["apis/example.org/v1"]["serverRelativeURL"])

    assert place({}) == place({})
    assert place({}) != place({"properties": {"size": {"type": "integer"}}})


def test_the_old_document_is_whole_in_json_alone() -> None:
    found = answer("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")

    assert content("/openapi/v2")["swagger"] == "2.0"
    assert found.body == b"\n\x032.0\x12\x12\n\nKubernetes\x12\x041.36"
    assert answer("/openapi/v2", "text/html").status == 406


def test_the_index_names_what_can_be_asked() -> None:
    paths = content("/")["paths"]

    assert {"/api/v1", "/apis/apps/v1", "/readyz/etcd", "/version"} <= {*paths}
    assert paths == sorted(paths)
