"""Where the versions of each key are: made from records, kept up to date by every change."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stockman.etcd.records import KeyValue, read_key_value, read_revision

NEWEST = 1 << 63
FROM_KEY_ON = b"\0"
_ENTRY_SIZE = 16


class Version(NamedTuple):
    """A key as one change left it."""

    main: int
    sub: int
    is_tombstone: bool
    create_revision: int
    version: int
    lease: int
    data: bytes
    """The record, which is not taken apart before somebody asks."""

    @property
    def content(self) -> KeyValue:
        return read_key_value(self.data)


class Index:
    """Keys in order, and their versions by age."""

    def __init__(self, revisions: Iterable[bytes] = (), values: Iterable[bytes] = ()) -> None:
        self.keys: list[bytes] = []
        self.versions: dict[bytes, list[Version]] = {}
        self.leased: dict[int, set[bytes]] = {}
        self.touched: dict[bytes, int] = {}
        """By the second part of keys, such as `pods` of `/registry/pods/...`: the last change."""
        self.size = 0
        """Bytes of all records."""
        for revision, value in zip(revisions, values, strict=True):
            main, sub, is_tombstone = read_revision(revision)
            key_value = read_key_value(value)
            create_revisions = (key_value.create_revision, key_value.version, key_value.lease)
            self._append(key_value.key, Version(main, sub, is_tombstone, *create_revisions, value))
        self.keys = sorted(self.versions)

    def add(self, key: bytes, version: Version) -> None:
        """Note a change."""
        if key not in self.versions:
            insort(self.keys, key)
        self._append(key, version)

    def _append(self, key: bytes, version: Version) -> None:
        older = self.versions.setdefault(key, [])
        if older and older[-1].lease:
            self.leased[older[-1].lease].discard(key)
        if version.lease:
            self.leased.setdefault(version.lease, set()).add(key)
        older.append(version)
        self.touched[family(key)] = version.main
        self.size += entry_size(version)

    def newest(self, key: bytes) -> Version | None:
        """What a key is now; None: it is not there."""
        versions = self.versions.get(key)
        return None if not versions or versions[-1].is_tombstone else versions[-1]

    def at(self, key: bytes, revision: int) -> Version | None:
        """What a key was right after a transaction; None: it was not there."""
        versions = self.versions.get(key, [])
        if versions and versions[-1].main > revision:
            versions = versions[: bisect_right(versions, revision, key=lambda one: one.main)]
        return None if not versions or versions[-1].is_tombstone else versions[-1]

    def before(self, key: bytes, main: int, sub: int) -> Version | None:
        """What a key was right before a change; None: it was not there, or is forgotten."""
        versions = self.versions.get(key, [])
        place = bisect_left(versions, (main, sub), key=lambda one: (one.main, one.sub))
        return None if not place or versions[place - 1].is_tombstone else versions[place - 1]

    def between(self, key: bytes, range_end: bytes) -> list[bytes]:
        """Keys of a range that have versions, in order. An empty end: that key alone."""
        if not range_end:
            return [key] if key in self.versions else []
        begin = bisect_left(self.keys, key)
        if range_end == FROM_KEY_ON:
            return self.keys[begin:]
        return self.keys[begin : bisect_left(self.keys, range_end)]

    def there(self, key: bytes, range_end: bytes, revision: int) -> Iterator[Version]:
        """What was there of a range right after a transaction, in order of keys."""
        for content in self.between(key, range_end):
            found = self.at(content, revision)
            if found is not None:
                yield found


def family(key: bytes) -> bytes:
    """The second part of a key, which those of many objects of a kind have in common."""
    begin = key.find(b"/", 1) + 1
    end = key.find(b"/", begin)
    return key[begin:end] if end > 0 else key[begin:]


def within(key: bytes, begin: bytes, range_end: bytes) -> bool:
    """Whether a key is of a range."""
    if not range_end:
        return key == begin
    return key >= begin and (range_end == FROM_KEY_ON or key < range_end)


def entry_size(version: Version) -> int:
    """How many bytes of a page a record takes."""
    return _ENTRY_SIZE + 17 + version.is_tombstone + len(version.data)
