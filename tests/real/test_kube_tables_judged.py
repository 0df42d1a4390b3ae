"""Tables that the lab lays out are those of a real kube-apiserver, cell by cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.types import Types
from stockman_lab.kube.tables.builtin import has_printer
from stockman_lab.kube.tables.table import Include, table

from stockman.adapters.system import SystemClock
from tests.real.kubernetes.objects import SAMPLES, Object
from tests.real.kubernetes.statuses import BEING_DELETED, NODES, PODS, STATUSES
from tests.real.kubernetes.widgets import DEFINITION, PATH, widget
from tests.real.rendered.api_server import ApiServer, api_server
from tests.real.waiting import wait_until
from tools.pytest_plugin import RealTool

CLOCK = SystemClock()
TYPES = Types.of_server().with_crd(DEFINITION)
PRINTED = [
    resource
    for resource in TYPES.resources()
    if resource.is_custom or has_printer(f"{resource.api_version}/{resource.plural}")
]
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
TRIES = 5
"""An age may change between two answers."""
FULL: Object = {
    "labels": {"b": "1", "a": "2"},
    "list": ["a", "b"],
    "when": "2026-01-10T00:00:00Z",
    "flag": True,
    "open": 1.5,
    "port": 80,
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[ApiServer]:
    """A real server that holds objects of every kind."""
    with api_server(tmp_path_factory.mktemp("server"), real_tool) as api_servers:
        _made(api_servers, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        for sample in SAMPLES:
            _made(api_servers, sample.path, sample.content)
        _make_pods(api_servers)
        _make_nodes(api_servers)
        wait_until(lambda: api_servers.sent("GET", PATH).status == 200)
        one: Object = widget(**FULL)
        one["metadata"]["labels"] = {"example.org/size": "large"}
        _made(api_servers, PATH, one)
        _made(api_servers, PATH, widget("two"))
        for path, status in STATUSES.items():
            _told(api_servers, path, status)
        yield api_servers


def _made(server: ApiServer, path: str, content: Object) -> None:
    answer = server.sent("POST", path, json.dumps(content).encode())
    assert answer.status == 201, answer.body


def _told(server: ApiServer, path: str, status: Object) -> None:
    content = server.sent("GET", path).content
    content["status"] = {**content.get("status", {}), **status}
    answer = server.sent("PUT", f"{path}/status", json.dumps(content).encode())
    assert answer.status == 200, answer.body


def _make_pods(server: ApiServer) -> None:
    path = "/api/v1/namespaces/default/pods"
    plain = [{"name": one, "image": "i"} for one in "ab"]
    for name, (special, status) in PODS.items():
        metadata = {"name": name, "finalizers": ["example.org/kept"]}
        content = {"metadata": metadata, "spec": {"containers": plain, **special}}
        _made(server, path, {"apiVersion": "v1", "kind": "Pod", **content})
        _told(server, f"{path}/{name}", status)
        if name in BEING_DELETED:
            server.sent("DELETE", f"{path}/{name}", b'{"gracePeriodSeconds":0}')


def _make_nodes(server: ApiServer) -> None:
    for name, (labels, status) in NODES.items():
        content = {"metadata": {"name": name, "labels": labels}}
        _made(server, "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", **content})
        _told(server, f"/api/v1/nodes/{name}", status)


def _path(resource: Resource) -> str:
    root = f"/apis/{resource.api_version}" if resource.group else "/api/v1"
    return f"{root}/{resource.plural}"


def _cells(found: Any) -> list[Any]:
    return [(row["cells"], row.get("conditions")) for row in found["rows"]]


def _columns(found: Any) -> list[Any]:
    words = ("name", "type", "format", "priority")
    return [
        [column_definition[word] for word in words]
        for column_definition in found["columnDefinitions"]
    ]


@pytest.mark.parametrize("resource", PRINTED, ids=lambda one: f"{one.qualified}-{one.version}")
def test_rows_and_columns_are_those_of_the_server(server: ApiServer, resource: Resource) -> None:
    for _ in range(TRIES):
        real = server.sent("GET", _path(resource), accept=TABLE).content
        now = CLOCK.now().timestamp()
        listed = server.sent("GET", _path(resource)).content
        ours = table(resource, listed["items"], now, listed["metadata"])
        if _cells(ours) == _cells(real):
            break

    assert _columns(ours) == _columns(real)
    assert _cells(ours) == _cells(real)
    assert ours["metadata"] == real["metadata"]


@pytest.mark.parametrize("include", Include)
def test_rows_carry_as_much_of_the_object_as_was_asked_for(
    server: ApiServer, include: Include
) -> None:
    resource = TYPES.resource("", "v1", "configmaps")
    assert resource is not None
    path = f"{_path(resource)}?includeObject={include.value}"

    real = server.sent("GET", path, accept=TABLE).content
    listed = server.sent("GET", _path(resource)).content
    now = CLOCK.now().timestamp()
    # Entries of a list do not say their kind, but those of a table do.
    whole = [{"kind": "ConfigMap", "apiVersion": "v1", **one} for one in listed["items"]]
    ours = table(resource, whole, now, listed["metadata"], include)

    assert [row["object"] for row in ours["rows"]] == [row["object"] for row in real["rows"]]
