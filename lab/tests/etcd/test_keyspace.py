"""The keyspace: versions, ranges, old revisions, and being saved."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.core.saved import plain, restored
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.etcd.keyspace import Keyspace

from lab.tests.etcd.keyspaces import HISTORIES
from stockman.etcd.records import KeyValue


def keys(keyspace: Keyspace, key: bytes, range_end: bytes = b"", revision: int = 0) -> list[bytes]:
    return [item.key for item in keyspace.range(key, range_end, revision=revision).items]


def test_the_first_write_of_a_cluster_has_revision_two() -> None:
    assert Keyspace().put(b"/a", b"1") == 2


def test_a_key_keeps_its_first_revision_and_counts_its_versions() -> None:
    keyspace = Keyspace()
    keyspace.put(b"/a", b"1")
    keyspace.put(b"/b", b"1")
    keyspace.put(b"/a", b"2")

    assert keyspace.get(b"/a") == KeyValue(b"/a", b"2", 2, 4, 2)


def test_a_key_that_comes_back_begins_anew() -> None:
    keyspace = Keyspace()
    keyspace.put(b"/a", b"1")

    assert keyspace.delete(b"/a") == 1
    assert keyspace.get(b"/a") is None
    keyspace.put(b"/a", b"2")

    assert keyspace.get(b"/a") == KeyValue(b"/a", b"2", 4, 4, 1)


def test_deleting_what_is_not_there_changes_nothing() -> None:
    keyspace = Keyspace()

    assert keyspace.delete(b"/a", b"\0") == 0
    assert keyspace.revision == 1


def test_a_deleted_range_has_one_revision() -> None:
    keyspace = Keyspace()
    for name in (b"/a", b"/b", b"/c"):
        keyspace.put(name, b"")

    assert keyspace.delete(b"/a", b"/c") == 2
    assert keyspace.revision == 5
    assert keys(keyspace, b"/", b"\0") == [b"/c"]


def test_ranges_end_before_their_end() -> None:
    keyspace = Keyspace()
    for name in (b"/c", b"/a", b"/b"):
        keyspace.put(name, b"")

    assert keys(keyspace, b"/a") == [b"/a"]
    assert keys(keyspace, b"/a", b"/c") == [b"/a", b"/b"]
    assert keys(keyspace, b"/b", b"\0") == [b"/b", b"/c"]
    assert keys(keyspace, b"/x") == []


def test_a_limit_shows_fewer_and_counts_all() -> None:
    keyspace = Keyspace()
    for name in (b"/a", b"/b", b"/c"):
        keyspace.put(name, b"")

    numbers = keyspace.range(b"/", b"\0", limit=2)

    assert (len(numbers.items), numbers.count, numbers.more) == (2, 3, True)


def test_old_revisions_are_seen_as_they_were() -> None:
    keyspace = Keyspace()
    keyspace.put(b"/a", b"1")
    keyspace.put(b"/a", b"2")
    keyspace.delete(b"/a")

    assert [keyspace.range(b"/a", revision=at).count for at in (1, 2, 3, 4)] == [0, 1, 1, 0]
    assert keyspace.range(b"/a", revision=2).items[0].value == b"1"
    with pytest.raises(EtcdError, match="future revision"):
        keyspace.range(b"/a", revision=5)


def test_an_empty_key_is_none() -> None:
    with pytest.raises(EtcdError, match="key is not provided"):
        Keyspace().put(b"", b"")


@pytest.mark.parametrize("history", HISTORIES)
def test_a_keyspace_is_saved_and_goes_on(history: str) -> None:
    keyspace = Keyspace()
    HISTORIES[history](keyspace)

    again = restored(Keyspace, json.loads(json.dumps(plain(keyspace))))

    assert again == keyspace
    assert again.range(b"\0", b"\0") == keyspace.range(b"\0", b"\0")
    assert again.put(b"/new", b"") == keyspace.revision + 1
    assert again.size > keyspace.size


@given(st.lists(st.tuples(st.integers(0, 9), st.none() | st.binary(max_size=3)), max_size=40))
def test_every_revision_is_what_a_plain_mapping_was(
    changes: list[tuple[int, bytes | None]],
) -> None:
    keyspace = Keyspace()
    was: dict[int, dict[bytes, bytes]] = {1: {}}
    for number, value in changes:
        key, now = b"/%d" % number, dict(was[keyspace.revision])
        if value is None:
            keyspace.delete(key)
            now.pop(key, None)
        else:
            keyspace.put(key, value)
            now[key] = value
        was[keyspace.revision] = now

    for revision, expected in was.items():
        items = keyspace.range(b"/", b"\0", revision=revision).items
        assert [(item.key, item.value) for item in items] == sorted(expected.items())
