"""Server-side apply through the server: owners, conflicts, and what is taken away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lab.tests.kube.asking import APPLY, MAPS, MERGE, Served, served

ONE = f"{MAPS}/a"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.fixture
def server() -> Served:
    return served()


def applied(server: Served, manager: str, *, force: bool = False, **data: str) -> Any:
    path = f"{ONE}?fieldManager={manager}" + ("&force=true" if force else "")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}
    return server.ask("PATCH", path, body, APPLY)


def owned(result: Any) -> dict[str, Any]:
    return {
        managed_field["manager"]: managed_field["fieldsV1"]
        for managed_field in result["metadata"]["managedFields"]
    }


def test_what_is_not_there_is_created_with_its_owner(server: Served) -> None:
    result = applied(server, "x", a="1")

    assert server.last.status == 201
    assert owned(result) == {"x": {"f:data": {"f:a": {}}}}


def test_a_field_that_is_no_longer_applied_goes(server: Served) -> None:
    applied(server, "x", a="1", b="2")

    assert applied(server, "x", a="1")["data"] == {"a": "1"}


def test_a_field_with_another_owner_stays(server: Served) -> None:
    applied(server, "x", a="1", b="2")
    applied(server, "y", b="2")

    result = applied(server, "x", a="1")

    assert result["data"] == {"a": "1", "b": "2"}
    assert owned(result)["y"] == {"f:data": {"f:b": {}}}


def test_a_conflict_names_the_owner(server: Served) -> None:
    applied(server, "x", a="1")
    server.ask("PATCH", ONE, {"data": {"a": "2"}}, MERGE)

    refused = applied(server, "x", a="3")

    text = 'conflict with "shepherd" using v1'
    assert refused["code"] == 409
    assert refused["message"] == f"Apply failed with 1 conflict: {text}: .data.a"
    assert refused["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": text, "field": ".data.a"}
    ]


def test_who_forces_becomes_the_owner(server: Served) -> None:
    applied(server, "x", a="1")

    result = applied(server, "y", force=True, a="2")

    assert owned(result) == {"y": {"f:data": {"f:a": {}}}}


def test_applying_the_same_again_changes_nothing(server: Served) -> None:
    before = applied(server, "x", a="1")
    server.now += 60

    assert applied(server, "x", a="1") == before


def test_kubectl_takes_over_what_it_applied_in_its_own_way(server: Served) -> None:
    plain = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}}
    annotated = json.loads(json.dumps(plain))
    annotated["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(plain)}
    server.agent = "kubectl-client-side-apply"
    server.ask("POST", MAPS, annotated)

    result = applied(server, "kubectl", a="2")

    assert result["data"] == {"a": "2"}
    assert json.loads(result["metadata"]["annotations"][LAST_APPLIED])["data"] == {"a": "2"}


def test_objects_without_owners_get_one_for_all_that_was_there(server: Served) -> None:
    server.cluster.keyspace.put(
        b"/registry/configmaps/default/a",
        b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"},'
        b'"data":{"old":"1"}}',
    )

    result = applied(server, "x", a="1")

    assert owned(result)["before-first-apply"] == {"f:data": {".": {}, "f:old": {}}}


def test_a_secret_that_is_no_base64_is_refused(server: Served) -> None:
    path = MAPS.replace("configmaps", "secrets")
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"x": "a-b"}}

    answer = server.ask("PATCH", f"{path}/s?fieldManager=x", body, APPLY)

    assert answer["code"] == 500
    assert answer["message"].startswith("failed to convert new object (/s; /v1, Kind=Secret)")
