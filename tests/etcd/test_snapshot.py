"""Snapshots: written, read back, cut and damaged."""

from __future__ import annotations

import hashlib
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stockman.etcd.buckets import DatabaseMetadata, StoredLease, StoredMember, read_metadata
from stockman.etcd.errors import BrokenDatabase, MissingChecksum, WrongChecksum
from stockman.etcd.records import KeyValue, Record, Revision
from stockman.etcd.snapshot import (
    Snapshot,
    has_checksum,
    read_snapshot,
    snapshot_pieces,
    snapshot_size,
    verify_checksum,
)
from stockman.etcd.status import snapshot_status
from tests.etcd.files import file_of

BESIDE = DatabaseMetadata(
    index=40,
    term=3,
    voters=[7, 2**64 - 1],
    learners=[9],
    storage_version="3.6.0",
    cluster_version="3.6.0",
    scheduled_compaction=3,
    finished_compaction=3,
    members=[
        StoredMember(7, "ctrl-01", ("https://10.42.0.11:2380",), ("https://10.42.0.11:2379",)),
        StoredMember(9, "", ("https://10.42.0.12:2380",), is_learner=True),
    ],
    removed=[17],
    alarms=[(7, 1)],
    leases=[StoredLease(77, 60), StoredLease(78, 60, 30)],
    other={b"auth": {b"authRevision": bytes(7) + b"\1"}},
)
RECORDS = [
    Record(Revision(3), KeyValue(b"/a", b"1", 3, 3, 1)),
    Record(Revision(4, 0), KeyValue(b"/a", b"2", 3, 4, 2)),
    Record(Revision(4, 1), KeyValue(b"/b", b"3", 4, 4, 1, 77)),
    Record(Revision(5, 0, is_tombstone=True), KeyValue(b"/a")),
]
SNAPSHOT = Snapshot(
    [record.revision.key for record in RECORDS],
    [record.content.encoded for record in RECORDS],
    BESIDE,
)
FILE = b"".join(snapshot_pieces(SNAPSHOT))


def test_everything_is_read_back() -> None:
    snapshot = read_snapshot(FILE)

    assert snapshot == SNAPSHOT
    assert list(snapshot.records()) == RECORDS
    assert snapshot.revision == 5


def test_a_check_sum_stands_at_the_end() -> None:
    assert FILE[-32:] == hashlib.sha256(FILE[:-32]).digest()
    assert len(FILE) == snapshot_size(SNAPSHOT)
    assert has_checksum(len(FILE))


def test_a_copy_without_a_check_sum_is_read_unchecked() -> None:
    raw = FILE[:-32] + bytes(1 << 16)

    assert read_snapshot(raw, checked=False) == SNAPSHOT
    with pytest.raises(MissingChecksum):
        read_snapshot(raw)


def test_a_changed_byte_is_noticed_by_the_check_sum_alone() -> None:
    index = FILE.index(b"https://10.42.0.11")
    changed = FILE[:index] + b"H" + FILE[index + 1 :]

    with pytest.raises(WrongChecksum) as caught:
        verify_checksum(changed)
    assert caught.value.expected == FILE[-32:]
    assert read_snapshot(changed, checked=False) != SNAPSHOT


def test_an_empty_snapshot_has_no_revision() -> None:
    snapshot = read_snapshot(b"".join(snapshot_pieces(Snapshot())))

    assert snapshot.revision == 0
    assert list(snapshot.records()) == []


def test_the_revision_of_a_compaction_counts_where_nothing_is_left() -> None:
    assert Snapshot(beside=DatabaseMetadata(scheduled_compaction=9)).revision == 9


def test_a_snapshot_is_summed_up() -> None:
    found = snapshot_status(FILE)

    assert (found.revision, found.total_keys, found.version) == (5, 1, "3.6.0")
    assert found.total_size == len(FILE) - 32
    assert snapshot_status(FILE[:-32]) == found


def test_the_sum_is_that_of_the_content() -> None:
    snapshot = Snapshot(
        SNAPSHOT.revisions, [*SNAPSHOT.values[:-1], KeyValue(b"/c").encoded], BESIDE
    )

    assert snapshot_status(b"".join(snapshot_pieces(snapshot))).hash != snapshot_status(FILE).hash


@pytest.mark.parametrize(
    "content",
    [
        file_of(key={}),
        file_of(key={b"short": b""}, meta={}),
        file_of(key={Revision(2).key: b"\x0a\x05"}, meta={}),
        file_of(),
    ],
    ids=["no-meta", "no-revision", "no-record", "no-bucket"],
)
def test_what_etcdutl_would_die_of_is_refused(content: bytes) -> None:
    with pytest.raises(BrokenDatabase):
        snapshot_status(content)


@pytest.mark.parametrize(
    ("bucket", "key", "value"),
    [
        (b"meta", b"consistent_index", b"1"),
        (b"meta", b"term", b""),
        (b"meta", b"confState", b"{"),
        (b"meta", b"confState", b"[" * 100_000),
        (b"meta", b"confState", b"[]"),
        (b"meta", b"confState", b'{"voters":3}'),
        (b"meta", b"confState", b'{"voters":["a"]}'),
        (b"meta", b"storageVersion", b"\xff"),
        (b"meta", b"scheduledCompactRev", b"3"),
        (b"members", b"sheep", b"{}"),
        (b"members", b"1", b'{"name":3}'),
        (b"members", b"1", b'{"peerURLs":[3]}'),
        (b"members", b"1", b'{"peerURLs":"a"}'),
        (b"members_removed", b"", b""),
        (b"lease", b"1", b""),
        (b"alarm", b"\xff", b""),
    ],
)
def test_what_no_etcd_wrote_is_refused(bucket: bytes, key: bytes, value: bytes) -> None:
    with pytest.raises(BrokenDatabase):
        read_metadata({bucket: {key: value}})


@settings(max_examples=200)
@given(st.integers(0, len(FILE) - 1), st.binary(min_size=1, max_size=12))
def test_damage_ends_in_an_answer_or_in_a_refusal(place: int, damage: bytes) -> None:
    content = FILE[:place] + damage + FILE[place + len(damage) :]
    with suppress(BrokenDatabase):
        assert len(list(read_snapshot(content, checked=False).records())) <= 300
