"""The API server of the lab answers as a real kube-apiserver does, request by request."""

from __future__ import annotations

import base64
import dataclasses
import json
import subprocess
from collections.abc import Callable, Iterator

import pytest
from stockman_lab.kube.api.negotiating import PROTOBUF
from stockman_lab.kube.protobuf.reading import read_protobuf
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.rewriting import rewritten
from stockman_lab.kube.schema.types import Types

from tests.real.kube_api.conversations import CONVERSATIONS, begin
from tests.real.kube_api.talking import LabApi, RealApi, Step, compare, lab_api
from tests.real.kube_api.watches import WATCHES, Watching, seen_by_lab, seen_by_real
from tests.real.rendered.api_server import TOKEN, ApiServer, api_server
from tests.real.waiting import wait_until
from tools.pytest_plugin import RealTool

SPACE = "NS"
"""Stands for the namespace of a conversation, and in names of objects that have none."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[ApiServer]:
    with api_server(tmp_path_factory.mktemp("judge"), real_tool, accounts=True) as api_servers:
        yield api_servers


@pytest.fixture(scope="module")
def real(server: ApiServer) -> Iterator[RealApi]:
    real_api = RealApi(server.port, TOKEN)
    yield real_api
    real_api.close()


def placed(step: Step, space: str) -> Step:
    body = step.body
    if not isinstance(body, bytes):
        body = json.loads(json.dumps(body).replace(SPACE, space))
    return dataclasses.replace(step, path=step.path.replace(SPACE, space), body=body)


def wait_for(real: RealApi, step: Step) -> None:
    read = dataclasses.replace(step, method="GET")
    wait_until(lambda: real.ask(read).status == 200, lambda: step.path)


@pytest.mark.parametrize("topic", CONVERSATIONS, ids=lambda topic: topic.__name__)
def test_all_answers_are_the_same(topic: Callable[[], Iterator[Step]], real: RealApi) -> None:
    lab = lab_api()
    space = topic.__name__.replace("_", "-")
    found = {}
    for number, step in enumerate([*begin(), *topic()]):
        asked = placed(step, space)
        if step.method == "WAIT":
            wait_for(real, asked)
            continue
        differences = compare(asked, real, lab)
        if differences:
            found[f"{number} {step.method} {step.path} {step.sent[:200]!r}"] = differences

    assert found == {}


@pytest.mark.parametrize("watching", WATCHES, ids=lambda one: one.name)
def test_watches_see_the_same(watching: Watching, real: RealApi) -> None:
    lab: LabApi = lab_api()
    space = f"watch-{watching.name}"

    assert seen_by_lab(watching, lab, space) == seen_by_real(watching, real, space)


ELSEWISE = {"apiservices", "componentstatuses", "customresourcedefinitions", "statefulsets"}
"""Never sent in protobuf, never told in the same order, or with a kind that protobuf loses."""
LISTED = [
    resource
    for resource in Types.of_server().resources()
    if "list" in resource.verbs and resource.plural not in ELSEWISE
]


@pytest.mark.parametrize("resource", LISTED, ids=lambda one: one.qualified)
def test_objects_in_protobuf_are_read_as_the_server_means_them(
    resource: Resource, real: RealApi
) -> None:
    root = f"/apis/{resource.group}" if resource.group else "/api"
    path = f"{root}/{resource.version}/{resource.plural}"
    shape = Types.of_server().type_of(resource.group, resource.version, resource.list_kind)
    for _ in range(5):
        sent = real.bytes_of(Step("GET", path, headers={"Accept": PROTOBUF}))
        content = real.ask(Step("GET", path)).content
        found = rewritten(shape, read_protobuf(sent))
        assert isinstance(found, dict)
        if found["metadata"] == content["metadata"]:
            break

    assert found == rewritten(shape, content)


def test_objects_of_a_real_etcd_are_shown_as_its_server_shows_them(
    server: ApiServer, real: RealApi, real_tool: RealTool
) -> None:
    """What a real server stores in protobuf, read by the lab: all but what it converts."""
    converted = {"apiservices", "componentstatuses", "customresourcedefinitions"}
    stdout = subprocess.run(
        [
            real_tool("etcdctl"),
            "--endpoints",
            server.etcd,
            "get",
            "--prefix",
            "/registry",
            "-w",
            "json",
        ],
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    lab = lab_api()
    keyspace = lab.api.store.keyspace
    keyspace.delete(b"/registry", b"/registry\xff")
    for record in json.loads(stdout)["kvs"]:
        keyspace.put(base64.b64decode(record["key"]), base64.b64decode(record["value"]))

    found = {}
    for resource in Types.of_server().resources():
        is_old = (resource.group, resource.version) == ("autoscaling", "v1")
        if "list" not in resource.verbs or resource.plural in converted or is_old:
            continue
        root = f"/apis/{resource.group}" if resource.group else "/api"
        differences = compare(
            Step("GET", f"{root}/{resource.version}/{resource.plural}"), real, lab
        )
        if differences:
            found[resource.qualified] = differences

    assert found.keys() <= {"leases.coordination.k8s.io"}
