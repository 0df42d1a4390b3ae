"""The ten buckets of etcd, and their content besides the records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from stockman.etcd.errors import BrokenSnapshot
from stockman.etcd.protobuf import fields, number_field, to_signed
from stockman.etcd.records import Revision, read_revision

KEY = b"key"
META = b"meta"
MEMBERS = b"members"
REMOVED = b"members_removed"
CLUSTER = b"cluster"
ALARM = b"alarm"
LEASE = b"lease"
AUTH = (b"auth", b"authRoles", b"authUsers")
NAMES = (ALARM, *AUTH, CLUSTER, KEY, LEASE, MEMBERS, REMOVED, META)

_NUMBER_SIZE = 8


class StoredMember(NamedTuple):
    """A member as stored in a database."""

    id: int
    name: str
    peer_urls: tuple[str, ...]
    client_urls: tuple[str, ...] = ()
    is_learner: bool = False

    @property
    def encoded(self) -> bytes:
        """JSON as etcd writes it."""
        content: dict[str, object] = {"id": self.id, "peerURLs": list(self.peer_urls)}
        if self.is_learner:
            content["isLearner"] = True
        if self.name:
            content["name"] = self.name
        if self.client_urls:
            content["clientURLs"] = list(self.client_urls)
        return _json(content)


class StoredLease(NamedTuple):
    """A lease as stored in a database, in seconds."""

    id: int
    ttl: int
    remaining: int = 0

    @property
    def encoded(self) -> bytes:
        return (
            number_field(1, self.id) + number_field(2, self.ttl) + number_field(3, self.remaining)
        )


@dataclass(slots=True)
class DatabaseMetadata:
    """The content of a database besides its records."""

    index: int | None = None
    """Index of the last applied log entry. None: not stored."""
    term: int | None = None
    voters: list[int] | None = None
    learners: list[int] = field(default_factory=list)
    storage_version: str = ""
    cluster_version: str = ""
    scheduled_compaction: int = 0
    finished_compaction: int = 0
    members: list[StoredMember] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    alarms: list[tuple[int, int]] = field(default_factory=list)
    """Member and kind: 1 no space, 2 corrupt."""
    leases: list[StoredLease] = field(default_factory=list)
    other: dict[bytes, dict[bytes, bytes]] = field(default_factory=dict)
    """Unparsed entries by bucket: users, roles and unknown entries."""

    def buckets(self) -> dict[bytes, dict[bytes, bytes]]:
        """Return the nine buckets."""
        buckets: dict[bytes, dict[bytes, bytes]] = {name: {} for name in NAMES if name != KEY}
        buckets[META] = self._meta()
        if self.cluster_version:
            buckets[CLUSTER][b"clusterVersion"] = self.cluster_version.encode()
        for member in self.members:
            buckets[MEMBERS][b"%x" % member.id] = member.encoded
        for removed in self.removed:
            buckets[REMOVED][b"%x" % removed] = b"removed"
        for member_id, kind in self.alarms:
            buckets[ALARM][number_field(1, member_id) + number_field(2, kind)] = b""
        for lease in self.leases:
            buckets[LEASE][_number(lease.id)] = lease.encoded
        for name, content in self.other.items():
            buckets.setdefault(name, {}).update(content)
        return buckets

    def _meta(self) -> dict[bytes, bytes]:
        entries: dict[bytes, bytes] = {}
        if self.index is not None:
            entries[b"consistent_index"] = _number(self.index)
        if self.term is not None:
            entries[b"term"] = _number(self.term)
        if self.voters is not None:
            state: dict[str, object] = {"voters": sorted(self.voters)}
            if self.learners:
                state["learners"] = sorted(self.learners)
            entries[b"confState"] = _json(state | {"auto_leave": False})
        if self.storage_version:
            entries[b"storageVersion"] = self.storage_version.encode()
        if self.scheduled_compaction:
            entries[b"scheduledCompactRev"] = Revision(self.scheduled_compaction).key
        if self.finished_compaction:
            entries[b"finishedCompactRev"] = Revision(self.finished_compaction).key
        return entries


def read_metadata(buckets: Mapping[bytes, Mapping[bytes, bytes]]) -> DatabaseMetadata:
    """Parse buckets; raises `BrokenSnapshot`. Unknown entries are kept unchanged."""
    metadata = DatabaseMetadata()
    for name, content in buckets.items():
        for key, value in content.items():
            _READERS.get(name, _read_other)(metadata, name, key, value)
    return metadata


def _read_other(metadata: DatabaseMetadata, name: bytes, key: bytes, value: bytes) -> None:
    metadata.other.setdefault(name, {})[key] = value


def _read_meta(metadata: DatabaseMetadata, name: bytes, key: bytes, value: bytes) -> None:
    if key == b"consistent_index":
        metadata.index = _read_number(value)
    elif key == b"term":
        metadata.term = _read_number(value)
    elif key == b"confState":
        state = _read_json(value)
        metadata.voters = _ids(state.get("voters") or [])
        metadata.learners = _ids(state.get("learners") or [])
    elif key == b"storageVersion":
        metadata.storage_version = _text(value)
    elif key == b"scheduledCompactRev":
        metadata.scheduled_compaction = read_revision(value).main
    elif key == b"finishedCompactRev":
        metadata.finished_compaction = read_revision(value).main
    else:
        _read_other(metadata, name, key, value)


def _read_cluster(metadata: DatabaseMetadata, name: bytes, key: bytes, value: bytes) -> None:
    if key == b"clusterVersion":
        metadata.cluster_version = _text(value)
    else:
        _read_other(metadata, name, key, value)


def _read_member(metadata: DatabaseMetadata, name: bytes, key: bytes, value: bytes) -> None:
    del name
    content = _read_json(value)
    metadata.members.append(
        StoredMember(
            id=_read_hex(key),
            name=_require_text(content.get("name", "")),
            peer_urls=_texts(content.get("peerURLs") or []),
            client_urls=_texts(content.get("clientURLs") or []),
            is_learner=content.get("isLearner") is True,
        )
    )


def _read_former_member(metadata: DatabaseMetadata, name: bytes, key: bytes, value: bytes) -> None:
    del name, value
    metadata.removed.append(_read_hex(key))


def _read_alarm(metadata: DatabaseMetadata, name: bytes, key: bytes, value: bytes) -> None:
    del name, value
    numbers = {number: content for number, content in fields(key) if isinstance(content, int)}
    metadata.alarms.append((numbers.get(1, 0), numbers.get(2, 0)))


def _read_lease(metadata: DatabaseMetadata, name: bytes, key: bytes, value: bytes) -> None:
    del name
    numbers = {
        number: to_signed(content) for number, content in fields(value) if isinstance(content, int)
    }
    metadata.leases.append(StoredLease(_read_number(key), numbers.get(2, 0), numbers.get(3, 0)))


_READERS = {
    META: _read_meta,
    CLUSTER: _read_cluster,
    MEMBERS: _read_member,
    REMOVED: _read_former_member,
    ALARM: _read_alarm,
    LEASE: _read_lease,
}


def _number(number: int) -> bytes:
    return number.to_bytes(_NUMBER_SIZE, "big")


def _read_number(value: bytes) -> int:
    if len(value) != _NUMBER_SIZE:
        raise BrokenSnapshot(f"a number has {len(value)} bytes")
    return int.from_bytes(value, "big")


def _json(content: Mapping[str, object]) -> bytes:
    """JSON as Go writes it."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode()


def _read_json(value: bytes) -> dict[str, object]:
    try:
        content = json.loads(value)
    except (ValueError, RecursionError):
        raise BrokenSnapshot("what is said of members is no JSON") from None
    if not isinstance(content, dict):
        raise BrokenSnapshot("what is said of members is no JSON object")
    return content


def _read_hex(key: bytes) -> int:
    try:
        return int(key, 16)
    except ValueError:
        raise BrokenSnapshot("the id of a member is no number") from None


def _text(value: bytes) -> str:
    try:
        return value.decode("ascii")
    except UnicodeDecodeError:
        raise BrokenSnapshot("a version is no text") from None


def _require_text(value: object) -> str:
    if not isinstance(value, str):
        raise BrokenSnapshot("what is said of members is no text")
    return value


def _texts(values: object) -> tuple[str, ...]:
    return tuple(_require_text(item) for item in _items(values))


def _ids(values: object) -> list[int]:
    ids = _items(values)
    if not all(isinstance(number, int) for number in ids):
        raise BrokenSnapshot("the id of a member is no number")
    return [number for number in ids if isinstance(number, int)]


def _items(values: object) -> Iterable[object]:
    if not isinstance(values, list):
        raise BrokenSnapshot("what is said of members is no list")
    return values
