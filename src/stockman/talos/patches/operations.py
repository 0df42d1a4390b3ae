"""Apply JSON patches (RFC 6902) to one document like Talos' library.

It differs from the RFC in three points: a negative index counts from the end, `replace` creates a
missing key, and `copy` and `test` treat a missing key as null.
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
    """Source of `move` and `copy`."""
    value: Tree | None
    origin: Origin


def apply_operations(document: Branch, operations: tuple[JsonOperation, ...]) -> Branch:
    """Return the document after all operations; the argument is not changed."""
    root: Tree = _copy_tree(document)
    for operation in operations:
        root = _OperationRunner(root, operation).run()
    if not isinstance(root, Branch):
        raise InvalidValue(
            code="patch.operation",
            what="the result of the patch is not a mapping",
            why="a machine configuration is a mapping of keys",
            fix="do not replace the whole document",
        )
    return root


class _OperationRunner:
    """Applies one operation to the document in place."""

    def __init__(self, root: Tree, operation: JsonOperation) -> None:
        self._root = root
        self._operation = operation

    def run(self) -> Tree:
        operation = self._operation
        if operation.op in ("move", "copy"):
            value = self._source_value(self._required(operation.source, "from"))
            self._add(self._required(operation.path, "path"), value)
        elif operation.op == "add":
            self._add(self._required(operation.path, "path"), self._value())
        elif operation.op == "remove":
            self._remove(self._required(operation.path, "path"))
        elif operation.op == "replace":
            self._replace(self._required(operation.path, "path"))
        elif operation.op == "test":
            self._test(self._required(operation.path, "path"))
        else:
            self._refuse(f"{operation.op or 'a missing `op`'} is not an operation of RFC 6902")
        return self._root

    def _required(self, text: str | None, key: str) -> str:
        if text is None:
            self._refuse(f"the operation has no `{key}`")
        return text

    def _value(self) -> Tree:
        value = self._operation.value
        return Leaf(None, self._operation.origin) if value is None else _copy_tree(value)

    def _source_value(self, path: str) -> Tree:
        parent, key = self._parent(path)
        if isinstance(parent, Branch):
            value = parent.get(key)
            if self._operation.op == "move" and value is None:
                self._refuse(f"{path} does not exist")
            value = Leaf(None, self._operation.origin) if value is None else value
        else:
            value = parent[self._index(parent, key, len(parent))]
        if self._operation.op == "move":
            self._remove(path)
            return value
        return _copy_tree(value)

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
            self._refuse(f"{path} does not exist")

    def _replace(self, path: str) -> None:
        value = self._value()
        if path == "":
            if isinstance(value, Leaf):
                self._refuse("the document can only be replaced by a mapping")
            self._root = value
            return
        parent, key = self._parent(path)
        if isinstance(parent, Branch):
            parent[key] = value
        else:
            parent[self._index(parent, key, len(parent))] = value

    def _test(self, path: str) -> None:
        if path == "":
            actual: Tree | None = self._root
        else:
            parent, key = self._parent(path)
            if isinstance(parent, Branch):
                actual = parent.get(key)
            else:
                actual = parent[self._index(parent, key, len(parent))]
        ours = None if actual is None else plain_value(actual)
        if not _equal(ours, plain_value(self._value())):
            self._refuse(f"the value at {path or 'the root'} differs")

    def _parent(self, path: str) -> tuple[Branch | Items, str]:
        """Return the mapping or list that contains the last step of the path, and that step."""
        steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")]
        if len(steps) < 2:
            self._refuse(f"{path or 'an empty path'} does not start with /")
        parent: Tree = self._root
        for step in steps[1:-1]:
            child = self._child(parent, step)
            if child is None or isinstance(child, Leaf):
                self._refuse(f"{step} of {path} does not exist")
            parent = child
        if isinstance(parent, Leaf):
            self._refuse(f"{path} does not exist")
        return parent, steps[-1]

    def _child(self, tree: Tree, step: str) -> Tree | None:
        if isinstance(tree, Branch):
            return tree.get(step)
        if isinstance(tree, Items):
            return tree[self._index(tree, step, len(tree))]
        return None

    def _index(self, items: Items, key: str, end: int) -> int:
        if not _INDEX.fullmatch(key):
            self._refuse(f"{key} is not a list index")
        index = int(key)
        if not -end <= index < end:
            self._refuse(f"the list has {len(items)} items, index {key} is out of range")
        return index + end if index < 0 else index

    def _refuse(self, why: str) -> NoReturn:
        operation = self._operation
        raise InvalidValue(
            code="patch.operation",
            what=f"the operation {operation.op or '?'} at {operation.path or '?'} does not apply",
            why=why,
            fix="check the path, or write the patch as a strategic merge patch",
            at=operation.origin.at,
        )


def _copy_tree(tree: Tree) -> Tree:
    if isinstance(tree, Branch):
        return Branch(tree.origin, {key: _copy_tree(item) for key, item in tree.items()})
    if isinstance(tree, Items):
        return Items(tree.origin, [_copy_tree(item) for item in tree])
    return tree


def _equal(ours: object, theirs: object) -> bool:
    """Whether two values are equal in JSON: true is not 1."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_equal(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_equal, ours, theirs))
    return isinstance(ours, bool) == isinstance(theirs, bool) and ours == theirs
