"""Values of wrong types are told of as Go's decoder does it."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.schema.decoding import decoding_error
from stockman_lab.kube.schema.types import Types

TYPES = Types.of_server()
POD, SECRET, LEASE = (
    TYPES.type_of(group, "v1", kind)
    for group, kind in (("", "Pod"), ("", "Secret"), ("coordination.k8s.io", "Lease"))
)
FIELD = "json: cannot unmarshal {} into Go struct field {} of type {}"


def container(**fields: Any) -> dict[str, Any]:
    """A pod with one container."""
    return {"spec": {"containers": [fields]}}


@pytest.mark.parametrize(
    ("content", "value", "field", "go"),
    [
        ({"metadata": "x"}, "string", "Pod.metadata", "v1.ObjectMeta"),
        ({"metadata": {"labels": {"a": 1}}}, "number", "ObjectMeta.metadata.labels", "string"),
        ({"metadata": {"uid": 5}}, "number", "ObjectMeta.metadata.uid", "types.UID"),
        ({"spec": {"hostNetwork": "x"}}, "string", "PodSpec.spec.hostNetwork", "bool"),
        ({"spec": {"priority": 1.5}}, "number 1.5", "PodSpec.spec.priority", "int32"),
        ({"spec": {"priority": 1 << 31}}, "number 2147483648", "PodSpec.spec.priority", "int32"),
        (container(args="x"), "string", "Container.spec.containers.args", "[]string"),
        (container(env=[3]), "number", "Container.spec.containers.env", "v1.EnvVar"),
        (
            container(imagePullPolicy=[]),
            "array",
            "Container.spec.containers.imagePullPolicy",
            "v1.PullPolicy",
        ),
        (
            container(livenessProbe={"httpGet": {"port": True}}),
            "bool",
            "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port",
            "int32",
        ),
    ],
)
def test_the_first_wrong_value_is_told_with_its_place(
    content: Any, value: str, field: str, go: str
) -> None:
    assert decoding_error(POD, content) == FIELD.format(value, field, go)


def test_quantities_are_told_of_in_other_words() -> None:
    content = container(resources={"limits": {"cpu": "much"}})

    assert decoding_error(POD, content).startswith("quantities must match the regular expression")


def test_bytes_have_to_be_base64() -> None:
    assert decoding_error(SECRET, {"data": {"a": "YQ=="}}) == ""
    assert decoding_error(SECRET, {"data": {"a": "YQ!"}}) == ("illegal base64 data at input byte 2")


@pytest.mark.parametrize(
    ("time", "why"),
    [
        ("2026-01-01T00:00:00.123456Z", ""),
        ("2026-01-01T00:00:00.5Z", 'cannot parse ".5Z" as ".000000"'),
        ("yesterday", 'cannot parse "yesterday" as "2006"'),
    ],
)
def test_times_of_leases_have_six_digits(time: str, why: str) -> None:
    found = decoding_error(LEASE, {"spec": {"renewTime": time}})

    assert found.endswith(why)
    assert bool(found) == bool(why)


def test_nulls_and_unknown_fields_are_read_over() -> None:
    assert decoding_error(POD, {"spec": None, "other": 1, "metadata": {"labels": None}}) == ""
