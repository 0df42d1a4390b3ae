"""Objects of built-in kinds are written back as Go's structs say."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.schema.rewriting import rewritten
from stockman_lab.kube.schema.types import Types

from lab.tests.kube.widgets import widget, widgets

TYPES = Types.of_server()


def again(kind: str, content: dict[str, Any], group: str = "") -> Any:
    """An object as it comes back."""
    return rewritten(TYPES.type_of(group, "v1", kind), content)


def test_fields_come_in_the_order_of_the_struct() -> None:
    found = again(
        "Pod", {"status": {}, "spec": {}, "metadata": {}, "apiVersion": "v1", "kind": "P"}
    )

    assert [*found] == ["kind", "apiVersion", "metadata", "spec", "status"]


def test_empty_and_unknown_values_are_left_away() -> None:
    found = again(
        "ConfigMap", {"metadata": {"name": "a", "labels": {}, "x": 1}, "data": None, "y": 1}
    )

    assert found == {"metadata": {"name": "a"}}


def test_what_is_always_said_is_said() -> None:
    found = again("Pod", {"spec": {"containers": [{"name": "a"}]}, "status": {"conditions": [{}]}})

    assert found["metadata"] == {}
    assert found["spec"]["containers"] == [{"name": "a", "resources": {}}]
    (condition,) = found["status"]["conditions"]
    assert condition == {
        "type": "",
        "status": "",
        "lastProbeTime": None,
        "lastTransitionTime": None,
    }


def test_zeros_are_kept_where_go_can_tell_them_from_nothing() -> None:
    found = again("Deployment", {"spec": {"replicas": 0, "minReadySeconds": 0}}, "apps")

    assert found["spec"]["replicas"] == 0
    assert "minReadySeconds" not in found["spec"]
    assert found["spec"]["selector"] is None


def test_lists_that_are_empty_are_none() -> None:
    assert again("Role", {"rules": []}, "rbac.authorization.k8s.io")["rules"] is None


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00.9Z", "2026-01-01T00:00:00Z"),
    ],
)
def test_times_are_written_in_whole_seconds_of_utc(given: str, written: str) -> None:
    found = again("Pod", {"metadata": {"creationTimestamp": given}})

    assert found["metadata"]["creationTimestamp"] == written


def test_quantities_bytes_and_keys_have_one_form() -> None:
    claim = again("PersistentVolume", {"spec": {"capacity": {"storage": "0.5Gi", "cpu": "1000m"}}})
    secret = again("Secret", {"data": {"b": "YQ==", "a": "Yg=="}})

    assert claim["spec"]["capacity"] == {"cpu": "1", "storage": "512Mi"}
    assert [*secret["data"]] == ["a", "b"]


def test_custom_objects_are_left_as_they_are() -> None:
    content = widget(empty="", list=[])

    assert rewritten(widgets(), content) == content
