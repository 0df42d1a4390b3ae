"""Objects as they were read: decoded once and encoded once per revision."""

from __future__ import annotations

import json
from collections.abc import Hashable
from functools import lru_cache

from stockman.etcd.records import KeyValue, read_key_value
from stockman_lab.etcd.index import Version
from stockman_lab.kube.objects import Object, Tree, in_order
from stockman_lab.kube.protobuf.reading import MAGIC, BadProtobuf, read_protobuf
from stockman_lab.kube.schema.defaulting import fill_defaults
from stockman_lab.kube.schema.rewriting import rewritten
from stockman_lab.kube.schema.types import Types, UnknownKind

PREFIX = b"/registry/"
_PAST = 4096
"""How many entries that are no longer the newest are remembered."""
_SHARED = 2048
"""How many records of all stores of the process are remembered with what they hold."""
_OWN_GROUPS = frozenset({b"apiextensions.k8s.io", b"apiregistration.k8s.io"})


class Entry:
    """One object at one revision. Its content is shared: nobody changes it."""

    __slots__ = ("_encoded", "_item", "content", "created", "key", "revision", "unchanged_by")

    def __init__(self, key: bytes, revision: int, created: int, content: Object) -> None:
        self.key = key
        self.revision = revision
        self.created = created
        self.content = content
        self._encoded: bytes | None = None
        self._item: bytes | None = None
        self.unchanged_by: dict[Hashable, tuple[str, ...]] = {}
        """Requests that left it as it is, with the warnings that they got: they would again."""

    @property
    def item(self) -> bytes:
        """As JSON among others in a list, which tells their kind."""
        if self._item is None:
            if is_custom_key(self.key):
                self._item = self.encoded
            else:
                bare = {
                    name: one
                    for name, one in self.content.items()
                    if name not in {"kind", "apiVersion"}
                }
                self._item = compact_json(bare)
        return self._item

    @property
    def encoded(self) -> bytes:
        """As JSON, resource version included."""
        if self._encoded is None:
            self._encoded = compact_json(self.content)
        return self._encoded


class Unreadable(Exception):
    """A value that is no object in JSON."""


def compact_json(content: object) -> bytes:
    """JSON as Go writes it, without any space."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    if "<" in text or ">" in text or "&" in text:
        text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return text.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=_SHARED)
def recorded_entry(record: bytes) -> Entry:
    """What a record holds; worlds that begin alike share what they read."""
    return read_entry(read_key_value(record))


def read_entry(key_value: KeyValue) -> Entry:
    """What a record holds, taken apart already."""
    try:
        content = _decode(key_value.value)
    except (ValueError, BadProtobuf, UnknownKind):
        raise Unreadable(key_value.key.decode("utf-8", "replace")) from None
    metadata = content.setdefault("metadata", {})
    metadata["resourceVersion"] = str(key_value.mod_revision)
    return Entry(
        key_value.key,
        key_value.mod_revision,
        key_value.create_revision,
        laid_out(key_value.key, content),
    )


def _decode(value: bytes) -> Object:
    """A value in JSON as the lab writes it, or in protobuf as a real server does."""
    if not value.startswith(MAGIC):
        result: Object = json.loads(value)
        return result
    content = read_protobuf(value)
    group, _, version = content["apiVersion"].rpartition("/")
    shape = Types.of_server().type_of(group, version, content["kind"])
    fill_defaults(shape, content)
    made = rewritten(shape, content)
    return made if isinstance(made, dict) else content


def laid_out(key: bytes, content: Object) -> Object:
    """Fields in the order in which they are written: custom objects by name."""
    return _by_name(content) if is_custom_key(key) else in_order(content)


def _by_name(value: Tree) -> Tree:
    if isinstance(value, dict):
        return {
            name: _by_name(one) if isinstance(one := value[name], dict | list) else one
            for name in sorted(value)
        }
    return [_by_name(item) for item in value] if isinstance(value, list) else value


def is_custom_key(key: bytes) -> bool:
    """Whether a key is that of a custom object."""
    first = key.removeprefix(PREFIX).partition(b"/")[0]
    return b"." in first and first not in _OWN_GROUPS


def stored_value(content: Object) -> bytes:
    """An object as it is stored: without the resource version, which the record tells."""
    metadata = {name: one for name, one in content["metadata"].items() if name != "resourceVersion"}
    return compact_json({**content, "metadata": metadata}) + b"\n"


class Entries:
    """Entries by key, made when they are first asked for; the records stay the truth."""

    def __init__(self) -> None:
        self._newest: dict[bytes, Entry] = {}
        self._past: dict[tuple[bytes, int], Entry] = {}

    def entry(self, key: bytes, version: Version) -> Entry:
        """A key at one of its versions."""
        known = self._newest.get(key)
        if known is not None and known.revision == version.main:
            return known
        entry = recorded_entry(version.data)
        if known is None or known.revision < version.main:
            self._newest[key] = entry
        return entry

    def past(self, key_value: KeyValue) -> Entry:
        """What a record held that may be gone by now; many ask for the same ones in a row."""
        known = self._newest.get(key_value.key)
        if known is not None and known.revision == key_value.mod_revision:
            return known
        place = (key_value.key, key_value.mod_revision)
        entry = self._past.get(place)
        if entry is None:
            if len(self._past) >= _PAST:
                self._past.clear()
            entry = self._past[place] = read_entry(key_value)
        return entry

    def keep(self, entry: Entry) -> None:
        """Know an entry without reading it again."""
        self._newest[entry.key] = entry

    def forget(self, key: bytes) -> None:
        """An object is gone."""
        self._newest.pop(key, None)
