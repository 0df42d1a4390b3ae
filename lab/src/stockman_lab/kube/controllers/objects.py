"""The objects of a cluster as controllers see them: newest states, and who belongs to whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from stockman.etcd.kubernetes.keys import ObjectKey, read_object_key
from stockman.etcd.records import read_user_key
from stockman_lab.etcd.index import family
from stockman_lab.etcd.keyspace import Keyspace
from stockman_lab.kube.objects import Object, metadata_of, part_of
from stockman_lab.kube.store.entries import PREFIX
from stockman_lab.kube.store.store import Store

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """What happened to one object."""

    key: ObjectKey
    before: Object | None
    after: Object | None

    @property
    def newest(self) -> Object:
        """What it is, or what it was when it went."""
        after = self.after if self.after is not None else self.before
        return after if after is not None else {}

    @property
    def name(self) -> str:
        """Namespace and name, as queues hold them."""
        return named_key(self.key.namespace, self.key.name)


def named_key(namespace: str, name: str) -> str:
    """`namespace/name`, or the name alone where there is no namespace."""
    return f"{namespace}/{name}" if namespace else name


def controller_of(content: Object) -> Object | None:
    """The reference to the owner who controls an object; None: nobody does."""
    for owner_reference in metadata_of(content).get("ownerReferences") or ():
        if owner_reference.get("controller"):
            controller: Object = owner_reference
            return controller
    return None


_PODS = "pods"
_CLAIMED = {
    b"pods": _PODS,
    b"replicasets": "replicasets",
    b"controllerrevisions": "controllerrevisions",
}
"""What workloads take as theirs, by the second part of keys."""


def _claimable(key: bytes) -> str | None:
    return _CLAIMED.get(family(key))


def _node_of(pod: Object) -> str:
    return str(part_of(pod, "spec").get("nodeName") or "")


def _take_out(index: dict[T, dict[bytes, None]], place: T, key: bytes) -> None:
    kept = index.get(place)
    if kept is not None:
        kept.pop(key, None)
        if not kept:
            del index[place]


class Objects:
    """All objects of a store at their newest, with those that belong to an owner."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[bytes, Object] = {}
        self._owned: dict[str, dict[bytes, None]] = {}
        self._free: dict[tuple[str, str], dict[bytes, None]] = {}
        self._on_node: dict[str, dict[bytes, None]] = {}
        self._lists: dict[bytes, tuple[Keyspace, int, list[Object]]] = {}

    @property
    def revision(self) -> int:
        """Of the whole store."""
        return self._store.keyspace.revision

    def changes(self, since: int) -> tuple[int, list[ObjectChange]]:
        """What is new behind a revision, each object once; with the revision up to which."""
        keyspace = self._store.keyspace
        newest = keyspace.revision
        is_known = bool(self._known) and since <= newest and since >= keyspace.compacted
        if is_known and since == newest:
            return newest, []
        if is_known:
            begin = keyspace.first_after(since)
            places = range(begin, len(keyspace.revisions))
            keys: Iterable[bytes] = dict.fromkeys(
                read_user_key(keyspace.values[place]) for place in places
            )
        else:
            listed = self._store.readable(PREFIX)
            keys = dict.fromkeys([*(item.key for item in listed), *self._known])
        return newest, [item for key in keys for item in self._change(key)]

    def fill(self) -> None:
        """Know what is there without calling it new, as after a world was loaded."""
        for entry in self._store.readable(PREFIX):
            self._know(entry.key, entry.content)

    def _change(self, key: bytes) -> Iterator[ObjectChange]:
        read = read_object_key(key)
        if read is None:
            return
        before = self._known.get(key)
        entry = self._store.readable_one(key)
        after = None if entry is None else entry.content
        if before is after:
            return
        if before is not None:
            self._forget(key, before)
        if after is not None:
            self._know(key, after)
        is_other = metadata_of(before or {}).get("uid") != metadata_of(after or {}).get("uid")
        if before is not None and after is not None and is_other:
            yield ObjectChange(read, before, None)
            before = None
        yield ObjectChange(read, before, after)

    def _know(self, key: bytes, content: Object) -> None:
        self._known[key] = content
        for owner in metadata_of(content).get("ownerReferences") or ():
            self._owned.setdefault(owner["uid"], {})[key] = None
        family = _claimable(key)
        if family is not None:
            if controller_of(content) is None:
                space = metadata_of(content).get("namespace", "")
                self._free.setdefault((family, space), {})[key] = None
            if family == _PODS and (node := _node_of(content)):
                self._on_node.setdefault(node, {})[key] = None

    def _forget(self, key: bytes, content: Object) -> None:
        self._known.pop(key, None)
        for owner in metadata_of(content).get("ownerReferences") or ():
            _take_out(self._owned, owner["uid"], key)
        family = _claimable(key)
        if family is not None:
            _take_out(self._free, (family, metadata_of(content).get("namespace", "")), key)
            if family == _PODS:
                _take_out(self._on_node, _node_of(content), key)

    def owned(self, uid: str) -> list[tuple[ObjectKey, Object]]:
        """Objects that name an owner, in order of their keys."""
        result = []
        for key in sorted(self._owned.get(uid, ())):
            read = read_object_key(key)
            if read is not None:
                result.append((read, self._known[key]))
        return result

    def claimable(self, plural: str, namespace: str, uid: str) -> list[Object]:
        """Objects of a kind that name an owner or that nobody controls, in order of their keys."""
        keys = {*self._owned.get(uid, ()), *self._free.get((plural, namespace), ())}
        prefix = ObjectKey(plural, "", namespace).key + b"/"
        return [self._known[key] for key in sorted(keys) if key.startswith(prefix)]

    def pods_on(self, node: str) -> list[Object]:
        """Pods of a node, in order of their keys."""
        return [self._known[key] for key in sorted(self._on_node.get(node, ()))]

    def get(self, plural: str, key: str, group: str = "") -> Object | None:
        """An object by its kind and `namespace/name`; None: there is none."""
        namespace, _, name = key.rpartition("/")
        entry = self._store.readable_one(ObjectKey(plural, name, namespace, group).key)
        return None if entry is None else entry.content

    def listed(self, plural: str, namespace: str = "", group: str = "") -> list[Object]:
        """All objects of a kind, of one namespace or of all; the same list until one changes."""
        prefix = ObjectKey(plural, "", namespace, group).key + b"/"
        keyspace = self._store.keyspace
        touched = keyspace.index.touched.get(family(prefix), 0)
        known = self._lists.get(prefix)
        if known is not None and known[0] is keyspace and known[1] == touched:
            return known[2]
        contents = [item.content for item in self._store.readable(prefix)]
        self._lists[prefix] = keyspace, touched, contents
        return contents

    def listed_from(self, plural: str, namespace: str, stem: str) -> list[Object]:
        """Objects of a namespace whose names begin with a stem."""
        prefix = ObjectKey(plural, stem, namespace).key
        return [item.content for item in self._store.readable(prefix)]

    def all_in(self, namespace: str) -> list[tuple[ObjectKey, Object]]:
        """Everything that lies in a namespace."""
        result = []
        for key in sorted(self._known):
            read = read_object_key(key)
            if read is not None and read.namespace == namespace:
                result.append((read, self._known[key]))
        return result
