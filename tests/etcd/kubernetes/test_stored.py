"""Objects out of etcd."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.etcd.errors import BrokenDatabase
from stockman.etcd.kubernetes.objects import EncryptedObject, StoredObject, read_stored_object
from stockman.etcd.protobuf import bytes_field, number_field

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
METADATA = (
    bytes_field(1, b"fence")
    + bytes_field(3, b"meadow")
    + bytes_field(5, b"uid-1")
    + bytes_field(8, number_field(1, int(MOMENT.timestamp())))
    + bytes_field(9, number_field(1, 1 << 62))
    + bytes_field(11, bytes_field(1, b"kind") + bytes_field(2, b"grass"))
    + bytes_field(12, bytes_field(1, b"posts") + bytes_field(2, b"many"))
    + bytes_field(14, b"farm.example/last")
)
ENVELOPE = (
    b"k8s\0"
    + bytes_field(1, bytes_field(1, b"v1") + bytes_field(2, b"ConfigMap"))
    + bytes_field(2, bytes_field(1, METADATA) + bytes_field(2, b"\x0a"))
)
STORED = StoredObject(
    api_version="v1",
    kind="ConfigMap",
    name="fence",
    namespace="meadow",
    uid="uid-1",
    created=MOMENT,
    labels={"kind": "grass"},
    annotations={"posts": "many"},
    finalizers=("farm.example/last",),
)
JSON = b"""{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"fence","namespace":"meadow",
"uid":"uid-1","creationTimestamp":"2026-01-01T00:00:00Z","deletionTimestamp":"soon",
"labels":{"kind":"grass","count":3},"annotations":{"posts":"many"},
"finalizers":["farm.example/last",3]}}
"""


@pytest.mark.parametrize("value", [ENVELOPE, JSON], ids=["protobuf", "json"])
def test_metadata_is_read_from_both_forms(value: bytes) -> None:
    assert read_stored_object(value) == STORED


def test_what_is_encrypted_says_with_what() -> None:
    stored_object = read_stored_object(b"k8s:enc:secretbox:v1:key2:" + bytes(60))

    assert stored_object == EncryptedObject("secretbox", "v1", "key2")


@pytest.mark.parametrize("value", [b"", b"3", b"k8s", b"k8s:enc:", b"[]"])
def test_other_values_are_no_objects(value: bytes) -> None:
    assert read_stored_object(value) is None


@pytest.mark.parametrize("value", [b"{", b"{" + b'"a":{' * 50_000, ENVELOPE[:9], b"k8s\0\x08\x01"])
def test_damaged_objects_are_refused(value: bytes) -> None:
    with pytest.raises(BrokenDatabase):
        read_stored_object(value)


@pytest.mark.parametrize("value", [b"{}", b'{"metadata":3}', b'{"metadata":{"name":4}}', b"k8s\0"])
def test_what_is_missing_is_empty(value: bytes) -> None:
    assert read_stored_object(value) == StoredObject()


@given(st.binary(max_size=80))
def test_any_envelope_is_read_or_refused(content: bytes) -> None:
    with suppress(BrokenDatabase):
        assert isinstance(read_stored_object(b"k8s\0" + content), StoredObject)
