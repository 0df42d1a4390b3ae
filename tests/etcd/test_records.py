"""Records of etcd as bytes and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.etcd.errors import BrokenDatabase
from stockman.etcd.records import (
    KeyValue,
    Revision,
    read_key_value,
    read_record,
    read_revision,
    read_user_key,
)

NUMBERS = st.integers(0, 2**63 - 1)


@given(NUMBERS, NUMBERS, st.booleans())
def test_revisions_are_read_back(main: int, sub: int, is_tombstone: bool) -> None:
    revision = Revision(main, sub, is_tombstone)

    assert read_revision(revision.key) == revision
    assert len(revision.key) == 17 + is_tombstone


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_bytes_of_revisions_sort_as_they_do(a: int, b: int, c: int, d: int) -> None:
    assert (Revision(a, b).key < Revision(c, d).key) == ((a, b) < (c, d))


@given(
    st.builds(
        KeyValue, st.binary(), st.binary(), NUMBERS, NUMBERS, NUMBERS, st.integers(-(2**63), -1)
    )
    | st.builds(KeyValue, st.binary(max_size=300), st.binary(max_size=300), NUMBERS)
)
def test_records_are_read_back(content: KeyValue) -> None:
    assert read_key_value(content.encoded) == content
    assert read_user_key(content.encoded) == content.key


def test_a_record_is_written_as_etcd_does() -> None:
    content = KeyValue(b"/a", b"v", create_revision=2, mod_revision=300, version=2, lease=7)

    assert content.encoded.hex(" ") == "0a 02 2f 61 10 02 18 ac 02 20 02 2a 01 76 30 07"


def test_fields_may_come_in_any_order() -> None:
    assert read_user_key(b"\x20\x01\x0a\x01a") == b"a"


@pytest.mark.parametrize(
    "key",
    [b"", bytes(16), bytes(17), bytes(8) + b"_" + bytes(9), bytes(8) + b"_" + bytes(8) + b"tt"],
)
def test_other_keys_are_no_revisions(key: bytes) -> None:
    with pytest.raises(BrokenDatabase):
        read_revision(key)


@pytest.mark.parametrize(
    "message",
    ["0a05", "0a", "ff" * 11, "0801", "120161", "07", "0003", "0d00", "0a" + "ff" * 9 + "01"],
)
def test_what_is_no_record_is_refused(message: str) -> None:
    with pytest.raises(BrokenDatabase):
        read_record(Revision(2).key, bytes.fromhex(message))


@given(st.binary(max_size=60))
def test_any_bytes_are_a_record_or_refused(message: bytes) -> None:
    try:
        key_value = read_key_value(message)
    except BrokenDatabase:
        return
    assert read_key_value(key_value.encoded) == key_value
