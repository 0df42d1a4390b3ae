"""Tables of objects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.types import Types
from stockman_lab.kube.tables.ages import Ages
from stockman_lab.kube.tables.table import Include, columns_of, row_of, table

from lab.tests.kube.widgets import types_with, widget

TYPES = Types.of_server()
NOW = 1767225600.0
MADE = "2025-12-31T23:00:00Z"


def resource(path: str) -> Resource:
    """A resource by its path."""
    *group, version, plural = path.split("/")
    result = TYPES.resource("/".join(group), version, plural)
    assert result is not None
    return result


def cells(path: str, **content: Any) -> list[Any]:
    """The cells of an object that is an hour old."""
    metadata = {"name": "one", "creationTimestamp": MADE, **content.pop("metadata", {})}
    row = row_of(resource(path), {"metadata": metadata, **content}, Ages(NOW))
    return list(row["cells"])


def test_an_object_that_says_nothing_has_a_cell_in_every_column() -> None:
    for result in TYPES.resources():
        row = row_of(result, {"metadata": {"name": "one"}}, Ages(NOW))

        assert len(row["cells"]) == len(columns_of(result)), result.qualified
        json.dumps(row)


def pod(state: dict[str, Any], **status: Any) -> list[Any]:
    """The cells of a pod with one container."""
    container = {"name": "a", "ready": "running" in state, "restartCount": 0, "state": state}
    return cells(
        "v1/pods",
        spec={"containers": [{"name": "a"}]},
        status={"phase": "Running", "containerStatuses": [container], **status},
    )


@pytest.mark.parametrize(
    ("state", "ready", "status"),
    [
        ({"running": {}}, "1/1", "Running"),
        ({"waiting": {"reason": "CrashLoopBackOff"}}, "0/1", "CrashLoopBackOff"),
        ({"terminated": {"exitCode": 3}}, "0/1", "ExitCode:3"),
        ({"terminated": {"exitCode": 0, "reason": "Completed"}}, "0/1", "Completed"),
    ],
)
def test_pods_say_what_their_containers_are_at(
    state: dict[str, Any], ready: str, status: str
) -> None:
    assert pod(state)[1:3] == [ready, status]


def test_pods_say_when_they_were_last_started_again() -> None:
    ended = {"terminated": {"exitCode": 1, "finishedAt": "2025-12-31T23:50:00Z"}}
    container = {"name": "a", "restartCount": 2, "state": {}, "lastState": ended}

    result = cells("v1/pods", status={"phase": "Running", "containerStatuses": [container]})

    assert result[3] == "2 (10m ago)"


def test_pods_that_are_being_deleted_are_terminating() -> None:
    metadata = {"deletionTimestamp": MADE}

    assert cells("v1/pods", metadata=metadata, status={"phase": "Running"})[2] == "Terminating"
    assert cells("v1/pods", metadata=metadata, status={"phase": "Failed"})[2] == "Failed"


@pytest.mark.parametrize(
    ("path", "content", "shown"),
    [
        (
            "v1/nodes",
            {
                "metadata": {
                    "labels": {
                        "node-role.kubernetes.io/worker": "",
                        "node-role.kubernetes.io/a": "",
                    }
                },
                "spec": {"unschedulable": True},
                "status": {"conditions": [{"type": "Ready", "status": "False"}]},
            },
            ["NotReady,SchedulingDisabled", "a,worker"],
        ),
        (
            "v1/services",
            {
                "spec": {
                    "type": "LoadBalancer",
                    "clusterIPs": ["10.43.0.1"],
                    "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}],
                }
            },
            ["LoadBalancer", "10.43.0.1", "<pending>", "80:30080/TCP"],
        ),
        ("batch/v1/jobs", {"spec": {"completions": 2}}, ["Running", "0/2"]),
        ("batch/v1/jobs", {"spec": {"parallelism": 3}}, ["Running", "0/1 of 3"]),
        ("batch/v1/jobs", {"spec": {}}, ["Running", "0/1"]),
        (
            "v1/persistentvolumes",
            {"spec": {"capacity": {"storage": "1024Mi"}, "accessModes": ["ReadWriteOnce"]}},
            ["1Gi", "RWO"],
        ),
    ],
)
def test_kinds_show_what_kubectl_shows(
    path: str, content: dict[str, Any], shown: list[Any]
) -> None:
    assert cells(path, **content)[1 : 1 + len(shown)] == shown


def test_kinds_without_a_printer_have_a_name_and_a_time() -> None:
    assert cells("rbac.authorization.k8s.io/v1/clusterroles") == ["one", MADE]


def test_custom_kinds_have_the_columns_that_they_declare() -> None:
    columns = [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1},
        {"name": "When", "type": "date", "jsonPath": ".spec.when"},
        {"name": "Map", "type": "string", "jsonPath": ".spec.map"},
        {"name": "Wrong", "type": "integer", "jsonPath": ".spec.when"},
        {"name": "Nothing", "type": "string", "jsonPath": ".spec.nothing"},
    ]
    types = types_with({}, additionalPrinterColumns=columns)
    result = types.resource("example.org", "v1", "widgets")
    assert result is not None

    made = table(result, [widget(size=3, when=MADE, map={"b": 1, "a": 2})], NOW, {"continue": ""})

    assert [column_definition["name"] for column_definition in made["columnDefinitions"]] == [
        *("Name", "Size", "When", "Map", "Wrong", "Nothing")
    ]
    assert made["rows"][0]["cells"] == ["one", 3, "60m", '{"a":2,"b":1}', None, None]
    assert made["metadata"] == {}


def test_custom_kinds_that_declare_none_show_their_age() -> None:
    result = types_with({}).resource("example.org", "v1", "widgets")
    assert result is not None

    assert [column["name"] for column in columns_of(result)] == ["Name", "Age"]


@pytest.mark.parametrize(
    ("include", "kind"),
    [(Include.METADATA, "PartialObjectMetadata"), (Include.OBJECT, "Widget")],
)
def test_rows_carry_what_was_asked_for(include: Include, kind: str) -> None:
    result = types_with({}).resource("example.org", "v1", "widgets")
    assert result is not None

    row = row_of(result, widget(), Ages(NOW), include)

    assert row["object"]["kind"] == kind
    assert row["object"]["metadata"] == {"name": "one"}
    assert row_of(result, widget(), Ages(NOW), Include.NONE)["object"] is None


def test_pods_that_ended_are_marked_so() -> None:
    content = {"metadata": {"name": "one"}, "status": {"phase": "Succeeded"}}

    row = row_of(resource("v1/pods"), content, Ages(NOW))

    assert row["conditions"][0]["reason"] == "Succeeded"
