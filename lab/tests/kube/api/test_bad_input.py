"""Bodies that would break a careless server."""

from __future__ import annotations

import pytest
from stockman_lab.kube.schema.reading import DEEPEST

from lab.tests.kube.asking import APPLY, JSON_PATCH, MAPS, MERGE, STRATEGIC, Served, served

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
YAML = "application/yaml"
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@pytest.fixture
def server() -> Served:
    return served()


def definition(plural: str, schema: object = None, **names: object) -> dict[str, object]:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema or OPEN},
    }
    content = {"plural": plural, "kind": plural.capitalize(), **names}
    spec = {"group": "example.org", "scope": "Cluster", "names": content, "versions": [version]}
    return {"metadata": {"name": f"{plural}.example.org"}, "spec": spec}


def nested(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


@pytest.mark.parametrize("levels", [DEEPEST + 1, 300_000])
@pytest.mark.parametrize("kind", [MERGE, STRATEGIC, JSON_PATCH, APPLY, "application/json", YAML])
def test_documents_that_are_too_deep_are_refused(server: Served, levels: int, kind: str) -> None:
    server.made("a")
    method = "POST" if kind in {"application/json", YAML} else "PATCH"
    path = MAPS if method == "POST" else f"{MAPS}/a?fieldManager=m"

    answer = server.ask(method, path, nested(levels), kind)

    assert answer["code"] == 400
    assert server.respond("GET", f"{MAPS}/a").status == 200


def test_objects_as_deep_as_the_lab_takes_them_go_all_ways(server: Served) -> None:
    server.ask("POST", DEFINITIONS, definition("deep"))
    key = "/apis/example.org/v1/deep"
    head = b'{"apiVersion":"example.org/v1","kind":"Deep","metadata":{"name":"a"},"spec":'
    body = head + nested(DEEPEST - 1) + b"}"

    assert server.respond("POST", key, body).status == 201
    assert server.respond("PUT", f"{key}/a", body).status == 422  # it names no version
    assert server.respond("PATCH", f"{key}/a", body, MERGE).status == 200
    assert server.respond("PATCH", f"{key}/a?fieldManager=m&force=1", body, APPLY).status == 200
    assert server.respond("DELETE", f"{key}/a").status == 200


def test_what_etcd_does_not_take_is_not_stored(server: Served) -> None:
    owners = [
        {"apiVersion": "v1", "kind": "X", "name": "n" * 250, "uid": str(number)}
        for number in range(6_000)
    ]
    body = {"metadata": {"name": "large", "ownerReferences": owners}}

    answer = server.ask("POST", MAPS, body)

    assert (answer["code"], answer["message"]) == (500, "etcdserver: request is too large")


def test_options_in_a_body_hide_those_of_the_query(server: Served) -> None:
    server.made("a")
    gone = {"propagationPolicy": "Background"}

    assert server.respond("DELETE", f"{MAPS}/a?dryRun=All", gone).status == 200
    assert server.respond("GET", f"{MAPS}/a").status == 404
