"""JSON patches (RFC 6902) on one document, as Talos' library applies them.

It departs from the RFC in three points: a negative index counts from the end, `replace` sets a key
that is missing, and `copy` and `test` take a missing key for a null.
"""

from __future__ import annotations

from typing import NoReturn

from stockman.model.origin import Origin
from stockman.model.pattern import pattern
from stockman.model.record import record
from stockman.talos.patches.patch import InvalidValue
from stockman.talos.patches.tree import Branch, Items, Leaf, Tree, plain_value

_INDEX = pattern(r"[-+]?[0-9]+")


@record
class JsonOperation:
    """One operation of a patch."""

    op: str
    path: str | None
    source: str | None
    """Where `move` and `copy` take the value from."""
    value: Tree | None
    origin: Origin


def apply_operations(document: Branch, operations: tuple[JsonOperation, ...]) -> Branch:
    """The document after all operations; the one given is not changed."""
    root: Tree = _copy_tree(document)
    for operation in operations:
        root = _OperationRunner(root, operation).result()
    if not isinstance(root, Branch):
        raise InvalidValue(
            code="patch.operation",
            what="the patch leaves no mapping of keys",
            why="a machine configuration is a mapping of keys",
            fix="let the patch leave the document as a whole alone",
        )
    return root


class _OperationRunner:
    """One operation on the document, which is changed."""

    def __init__(self, root: Tree, operation: JsonOperation) -> None:
        self._root = root
        self._operation = operation

    def result(self) -> Tree:
        operation = self._operation
        if operation.op in ("move", "copy"):
            value = self._taken(self._needed(operation.source, "from"))
            self._add(self._needed(operation.path, "path"), value)
        elif operation.op == "add":
            self._add(self._needed(operation.path, "path"), self._value())
        elif operation.op == "remove":
            self._remove(self._needed(operation.path, "path"))
        elif operation.op == "replace":
            self._replace(self._needed(operation.path, "path"))
        elif operation.op == "test":
            self._test(self._needed(operation.path, "path"))
        else:
            self._refuse(f"{operation.op or 'an operation without `op`'} is none of RFC 6902")
        return self._root

    def _needed(self, text: str | None, key: str) -> str:
        if text is None:
            self._refuse(f"the operation has no `{key}`")
        return text

    def _value(self) -> Tree:
        value = self._operation.value
        return Leaf(None, self._operation.origin) if value is None else _copy_tree(value)

    def _taken(self, path: str) -> Tree:
        parent, key = self._parent(path)
        if isinstance(parent, Branch):
            found = parent.get(key)
            if self._operation.op == "move" and found is None:
                self._refuse(f"nothing is at {path}")
            found = Leaf(None, self._operation.origin) if found is None else found
        else:
            found = parent[self._index(parent, key, len(parent))]
        if self._operation.op == "move":
            self._remove(path)
            return found
        return _copy_tree(found)

    def _add(self, path: str, value: Tree) -> None:
        parent, key = self._parent(path)
        if isinstance(parent, Branch):
            parent[key] = value
        elif key == "-":
            parent.append(value)
        else:
            parent.insert(self._index(parent, key, len(parent) + 1), value)

    def _remove(self, path: str) -> None:
        parent, key = self._parent(path)
        if isinstance(parent, Items):
            del parent[self._index(parent, key, len(parent))]
        elif key in parent:
            del parent[key]
        else:
            self._refuse(f"nothing is at {path}")

    def _replace(self, path: str) -> None:
        value = self._value()
        if path == "":
            if isinstance(value, Leaf):
                self._refuse("the document can be replaced by a mapping only")
            self._root = value
            return
        parent, key = self._parent(path)
        if isinstance(parent, Branch):
            parent[key] = value
        else:
            parent[self._index(parent, key, len(parent))] = value

    def _test(self, path: str) -> None:
        if path == "":
            found: Tree | None = self._root
        else:
            parent, key = self._parent(path)
            if isinstance(parent, Branch):
                found = parent.get(key)
            else:
                found = parent[self._index(parent, key, len(parent))]
        ours = None if found is None else plain_value(found)
        if not _equal(ours, plain_value(self._value())):
            self._refuse(f"the value at {path or 'the top'} is another one")

    def _parent(self, path: str) -> tuple[Branch | Items, str]:
        """The mapping or list that holds the last part of the path."""
        parts = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")]
        if len(parts) < 2:
            self._refuse(f"{path or 'an empty path'} does not start with /")
        here: Tree = self._root
        for part in parts[1:-1]:
            found = self._child(here, part)
            if found is None or isinstance(found, Leaf):
                self._refuse(f"nothing is at {part} of {path}")
            here = found
        if isinstance(here, Leaf):
            self._refuse(f"nothing is at {path}")
        return here, parts[-1]

    def _child(self, tree: Tree, part: str) -> Tree | None:
        if isinstance(tree, Branch):
            return tree.get(part)
        if isinstance(tree, Items):
            return tree[self._index(tree, part, len(tree))]
        return None

    def _index(self, items: Items, key: str, end: int) -> int:
        if not _INDEX.fullmatch(key):
            self._refuse(f"{key} is no position in a list")
        index = int(key)
        if not -end <= index < end:
            self._refuse(f"the list has {len(items)} items, and no place {key}")
        return index + end if index < 0 else index

    def _refuse(self, why: str) -> NoReturn:
        operation = self._operation
        raise InvalidValue(
            code="patch.operation",
            what=f"the operation {operation.op or '?'} at {operation.path or '?'} does not apply",
            why=why,
            fix="check the path against the configuration, or write the patch as a strategic merge",
            at=operation.origin.at,
        )


def _copy_tree(tree: Tree) -> Tree:
    if isinstance(tree, Branch):
        return Branch(tree.origin, {key: _copy_tree(item) for key, item in tree.items()})
    if isinstance(tree, Items):
        return Items(tree.origin, [_copy_tree(item) for item in tree])
    return tree


def _equal(ours: object, theirs: object) -> bool:
    """JSON equality: true is not 1."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_equal(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_equal, ours, theirs))
    return isinstance(ours, bool) == isinstance(theirs, bool) and ours == theirs
