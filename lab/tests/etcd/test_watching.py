"""Changes that those who watch get to see."""

from __future__ import annotations

import pytest
from stockman_lab.etcd.errors import WatchCompacted
from stockman_lab.etcd.keyspace import Keyspace, compact
from stockman_lab.etcd.watching import Event, events

from stockman.etcd.records import KeyValue


def changed() -> Keyspace:
    keyspace = Keyspace()
    keyspace.put(b"/a", b"1")
    keyspace.put(b"/b", b"1")
    keyspace.put(b"/a", b"2")
    keyspace.delete(b"/a")
    return keyspace


def test_changes_come_in_order_with_what_was_before() -> None:
    first, second = KeyValue(b"/a", b"1", 2, 2, 1), KeyValue(b"/a", b"2", 2, 4, 2)

    assert list(events(changed(), 1, b"/a")) == [
        Event(False, first, None),
        Event(False, second, first),
        Event(True, KeyValue(b"/a", mod_revision=5), second),
    ]


def test_a_watch_begins_where_it_is_told_to() -> None:
    assert [event.content.key for event in events(changed(), 3, b"/", b"0")] == [
        b"/b",
        b"/a",
        b"/a",
    ]
    assert list(events(changed(), 6, b"/", b"0")) == []


def test_what_was_compacted_cannot_be_watched() -> None:
    keyspace = changed()
    compact(keyspace, 4)

    with pytest.raises(WatchCompacted) as caught:
        list(events(keyspace, 3, b"/a"))

    assert caught.value.revision == 4
    assert len(list(events(keyspace, 4, b"/a"))) == 2
