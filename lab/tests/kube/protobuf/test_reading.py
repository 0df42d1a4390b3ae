"""Objects in protobuf, as clients send them."""

from __future__ import annotations

import pytest
from stockman_lab.kube.protobuf.reading import MAGIC, BadProtobuf, read_protobuf

from lab.tests.kube.asking import MAPS, served
from stockman.etcd.protobuf import bytes_field, number_field

PROTOBUF = "application/vnd.kubernetes.protobuf"


def envelope(version: str, kind: str, raw: bytes) -> bytes:
    head = bytes_field(1, version.encode()) + bytes_field(2, kind.encode())
    return MAGIC + bytes_field(1, head) + bytes_field(2, raw)


def pair(name: str, value: bytes) -> bytes:
    return bytes_field(1, name.encode()) + bytes_field(2, value)


def test_maps_of_configuration_are_created_from_protobuf() -> None:
    server = served()
    metadata = bytes_field(1, b"a") + bytes_field(11, pair("app", b"wool"))
    raw = bytes_field(1, metadata) + bytes_field(2, pair("x", b"y"))

    answer = server.ask("POST", MAPS, envelope("v1", "ConfigMap", raw), PROTOBUF)

    assert server.last.status == 201
    assert answer["data"] == {"x": "y"}
    assert answer["metadata"]["labels"] == {"app": "wool"}


def test_what_is_inline_in_json_is_a_message_of_its_own_in_protobuf() -> None:
    secret = bytes_field(6, bytes_field(1, b"hidden"))
    volume = bytes_field(1, b"v") + bytes_field(2, secret)
    port = number_field(3, 80)
    limits = bytes_field(1, pair("cpu", bytes_field(1, b"100m")))
    container = bytes_field(1, b"c") + bytes_field(6, port) + bytes_field(8, limits)
    spec = bytes_field(1, volume) + bytes_field(2, container) + number_field(4, 30)

    result = read_protobuf(envelope("v1", "Pod", bytes_field(2, spec)))["spec"]

    assert result["volumes"] == [{"name": "v", "secret": {"secretName": "hidden"}}]
    assert result["containers"] == [
        {"name": "c", "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": "100m"}}}
    ]
    assert result["terminationGracePeriodSeconds"] == 30


def test_times_and_numbers_or_texts_are_read() -> None:
    metadata = bytes_field(8, number_field(1, 1_790_000_000))
    budget = bytes_field(1, number_field(1, 1) + bytes_field(3, b"50%"))
    raw = bytes_field(1, metadata) + bytes_field(2, budget)

    protobuf = read_protobuf(envelope("policy/v1", "PodDisruptionBudget", raw))

    assert protobuf["metadata"]["creationTimestamp"] == "2026-09-21T14:13:20Z"
    assert protobuf["spec"]["minAvailable"] == "50%"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        MAGIC,
        MAGIC + b"\xff\xff",
        envelope("v1", "Sheep", b""),
        envelope("v1", "Pod", b"\x0a\x05a"),
    ],
)
def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(BadProtobuf):
        read_protobuf(body)
