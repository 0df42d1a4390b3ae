"""The server as a whole: verbs, refusals, namespaces, finalizers, dry runs."""

from __future__ import annotations

import gzip
import json

import pytest

from lab.tests.kube.asking import MAPS, MERGE, Served, served


@pytest.fixture
def server() -> Served:
    return served()


def test_an_object_is_created_read_updated_and_deleted(server: Served) -> None:
    result = server.made("a", x="y")
    assert server.last.status == 201
    assert server.ask("GET", f"{MAPS}/a") == result

    result["data"] = {"x": "z"}
    assert server.ask("PUT", f"{MAPS}/a", result)["data"] == {"x": "z"}
    assert server.ask("PUT", f"{MAPS}/a", result)["code"] == 409
    assert server.ask("DELETE", f"{MAPS}/a")["status"] == "Success"
    assert server.ask("GET", f"{MAPS}/a")["message"] == 'configmaps "a" not found'


def test_an_update_that_changes_nothing_is_no_new_version(server: Served) -> None:
    result = server.made("a", x="y")
    server.now += 60

    again = server.ask("PATCH", f"{MAPS}/a", {"data": {"x": "y"}}, MERGE)

    assert again == result


def test_a_dry_run_changes_nothing(server: Served) -> None:
    before = server.cluster.keyspace.revision

    answer = server.ask("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "dry"}})

    assert answer["metadata"]["uid"]
    assert "resourceVersion" not in answer["metadata"]
    assert server.cluster.keyspace.revision == before


def test_a_finalizer_holds_an_object_until_it_is_taken_away(server: Served) -> None:
    server.made("a")
    server.ask("PATCH", f"{MAPS}/a", {"metadata": {"finalizers": ["x.example/y"]}}, MERGE)

    marked = server.ask("DELETE", f"{MAPS}/a")
    server.ask("PATCH", f"{MAPS}/a", {"metadata": {"finalizers": None}}, MERGE)

    assert marked["metadata"]["deletionTimestamp"]
    assert server.respond("GET", f"{MAPS}/a").status == 404


def test_nothing_is_created_in_a_namespace_that_goes(server: Served) -> None:
    server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "gone"}})
    server.ask("DELETE", "/api/v1/namespaces/gone")

    refused = server.ask(
        "POST", "/api/v1/namespaces/gone/configmaps", {"metadata": {"name": "late"}}
    )

    assert refused["message"] == (
        'configmaps "late" is forbidden: unable to create new content in namespace gone because'
        " it is being terminated"
    )
    assert refused["details"]["causes"][0]["reason"] == "NamespaceTerminating"


def test_strictness_decides_about_unknown_fields(server: Served) -> None:
    body = {"metadata": {"name": "a"}, "foo": 1}

    refused = server.ask("POST", f"{MAPS}?fieldValidation=Strict", body)
    server.ask("POST", MAPS, body)

    assert refused["message"].endswith('strict decoding error: unknown field "foo"')
    assert server.last.warnings == ['299 - "unknown field \\"foo\\""']


def test_long_answers_are_compressed_for_those_who_take_it(server: Served) -> None:
    server.made("a", text="x" * 200_000)

    answer = server.respond("GET", f"{MAPS}/a", **{"accept-encoding": "gzip"})

    assert answer.headers["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(answer.body))["metadata"]["name"] == "a"


def test_bodies_may_be_yaml(server: Served) -> None:
    server.ask("POST", MAPS, b"metadata: {name: a}\ndata: {x: 'y'}\n", "application/yaml")

    assert server.ask("GET", f"{MAPS}/a")["data"] == {"x": "y"}


def test_a_program_that_only_speaks_protobuf_is_refused(server: Served) -> None:
    protobuf = "application/vnd.kubernetes.protobuf"

    assert server.respond("GET", MAPS, accept=protobuf).status == 406
    assert server.respond("GET", MAPS, accept=f"{protobuf},application/json").status == 200
    assert server.respond("POST", MAPS, b"k8s\0", protobuf).status == 400


def test_bodies_that_are_too_large_are_refused(server: Served) -> None:
    assert server.respond("POST", MAPS, b"x" * (3 * (1 << 20) + 1)).status == 413


def test_deleting_a_definition_takes_its_objects_along(server: Served) -> None:
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
    }
    spec = {
        "group": "farm.example",
        "scope": "Namespaced",
        "names": {"kind": "Sheep", "plural": "sheep"},
        "versions": [version],
    }
    server.ask("POST", definitions, {"metadata": {"name": "sheep.farm.example"}, "spec": spec})
    sheep = "/apis/farm.example/v1/namespaces/default/sheep"
    body = {"apiVersion": "farm.example/v1", "kind": "Sheep", "metadata": {"name": "dolly"}}
    assert server.ask("POST", sheep, body)["metadata"]["generation"] == 1
    body["metadata"]["finalizers"] = ["a.example/b"]  # type: ignore[index]
    body["metadata"]["name"] = "held"  # type: ignore[index]
    server.ask("POST", sheep, body)

    server.ask("DELETE", f"{definitions}/sheep.farm.example")
    left = server.ask("GET", sheep)["items"]
    server.ask("PATCH", f"{sheep}/held", {"metadata": {"finalizers": None}}, MERGE)

    assert [item["metadata"]["name"] for item in left] == ["held"]
    assert server.respond("GET", sheep).status == 404
    assert server.respond("GET", f"{definitions}/sheep.farm.example").status == 404
