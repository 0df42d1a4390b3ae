"""Deletes (`$patch: delete`) and JSON operations (RFC 6902) on documents."""

from __future__ import annotations

from typing import NoReturn

from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode
from stockman.model.origin import Origin, Position
from stockman.model.pattern import pattern
from stockman.model.record import record
from stockman.talos.patches.patch import InvalidValue
from stockman.talos.patches.schema import (
    Branch,
    Items,
    Leaf,
    SchemaType,
    Tree,
    TypeSchema,
    copy_tree,
    plain_value,
)

V1ALPHA1 = "v1alpha1"
_PATCH_KEY = "$patch"
_INLINE_DELETES_SINCE = 12
"""The first minor that also deletes in embedded structs."""
_EMPTY_DOCUMENT_KEYS = frozenset({"version", "kind", "name"})


@record
class PatchDelete:
    """A delete of a document, a field, or the list item with a key's value."""

    api_version: str
    kind: str
    name: str
    path: tuple[str, ...]
    """Keys from the root; `[2]` last for a list item. Empty: the document itself."""
    key: str
    value: str
    at: Position

    @property
    def identity(self) -> tuple[str, str, str | None]:
        return (self.api_version, self.kind, self.name or None)

    @property
    def path_text(self) -> str:
        return ".".join(self.path) or f"the document {self.kind}"


def take_deletes(document: TreeNode) -> tuple[TreeNode | None, list[PatchDelete]]:
    """Split a document from its deletes. None: nothing else is in the document.

    The document is changed.
    """
    deletes: list[PatchDelete] = []
    is_empty = _collect_deletes(None, document, (), document, deletes)
    if is_empty or _is_empty(document):
        return None, deletes
    return document, deletes


def _collect_deletes(
    parent: TreeNode | None,
    node: TreeNode,
    path: tuple[str, ...],
    root: TreeNode,
    deletes: list[PatchDelete],
) -> bool:
    """Collect the deletes below a node; return whether the node is empty now."""
    if isinstance(node, MappingNode):
        for key, entry in list(node.entries.items()):
            value = entry.value
            if key == _PATCH_KEY and isinstance(value, ScalarNode) and value.text == "delete":
                deletes.append(_build_delete(parent, node, path, root, entry.key.at))
                return True
            if _collect_deletes(node, value, (*path, key), root, deletes):
                del node.entries[key]
                if not node.entries:
                    return True
    elif isinstance(node, SequenceNode):
        index = 0
        while index < len(node.items):
            if _collect_deletes(node, node.items[index], (*path, f"[{index}]"), root, deletes):
                del node.items[index]
                if not node.items:
                    return True
            else:
                index += 1
    return False


def _build_delete(
    parent: TreeNode | None, node: MappingNode, path: tuple[str, ...], root: TreeNode, at: Position
) -> PatchDelete:
    key, value = "", ""
    if isinstance(parent, SequenceNode):
        key, value = _item_selector(node, path, at)
    elif any(not step or step.startswith("[") for step in path):
        raise _delete_error(
            at,
            path,
            "it is inside a list item",
            "delete the whole item by its first key, and add the new item",
        )
    api_version, kind = _text(root, "apiVersion"), _text(root, "kind")
    if not path and (api_version is None or kind is None):
        raise _delete_error(
            at,
            path,
            "a document is deleted by its apiVersion and kind, but one of them is missing",
            "set both; the document with `machine:` and `cluster:` cannot be deleted",
        )
    if bool(api_version) != bool(kind):
        raise _delete_error(
            at, path, "apiVersion and kind require each other, but one is missing", "set both"
        )
    return PatchDelete(
        api_version=api_version or "",
        kind=kind or V1ALPHA1,
        name=_text(root, "name") or "",
        path=path,
        key=key,
        value=value,
        at=at,
    )


def _item_selector(node: MappingNode, path: tuple[str, ...], at: Position) -> tuple[str, str]:
    """Return the first other key of a list item and its value, which identify the item."""
    for key, entry in node.entries.items():
        if (
            key == _PATCH_KEY
            and isinstance(entry.value, ScalarNode)
            and entry.value.text == "delete"
        ):
            continue
        return key, entry.value.text if isinstance(entry.value, ScalarNode) else ""
    raise _delete_error(
        at,
        path,
        "no key identifies the list item",
        "add a key of the item next to `$patch: delete`, such as `interface: eth0`",
    )


def _text(root: TreeNode, key: str) -> str | None:
    value = root.get(key) if isinstance(root, MappingNode) else None
    if value is None:
        return None
    return value.text if isinstance(value, ScalarNode) else ""


def _is_empty(document: TreeNode) -> bool:
    """Whether only keys without effect remain; Talos counts `apiVersion` as content."""
    if not isinstance(document, MappingNode):
        return False
    return all(
        key in _EMPTY_DOCUMENT_KEYS and isinstance(entry.value, ScalarNode)
        for key, entry in document.entries.items()
    )


def _delete_error(at: Position, path: tuple[str, ...], why: str, fix: str) -> InvalidValue:
    where = ".".join(path) or "the document"
    return InvalidValue(
        code="patch.delete", what=f"{where} cannot be deleted", why=why, fix=fix, at=at
    )


class _NotFound(Exception):
    """The target of a delete does not exist."""


def apply_delete(
    schema: TypeSchema, type_: SchemaType, document: Branch, delete: PatchDelete
) -> Branch:
    """Return the document without the deleted value; the argument is not changed."""
    try:
        result = _Deletion(schema, delete).without(type_, document, delete.path)
    except _NotFound:
        raise _delete_error(
            delete.at,
            delete.path,
            f"the document {delete.kind} does not contain it",
            "check the path, or remove the delete",
        ) from None
    return result if isinstance(result, Branch) else document


def _without_key(branch: Branch, key: str) -> Branch:
    return Branch(branch.origin, {name: item for name, item in branch.items() if name != key})


class _Deletion:
    def __init__(self, schema: TypeSchema, delete: PatchDelete) -> None:
        self._delete = delete
        self._includes_inline = schema.number >= _INLINE_DELETES_SINCE

    def without(self, type_: SchemaType, tree: Tree | None, path: tuple[str, ...]) -> Tree | None:
        if type_.kind == "pointer":
            if tree is None or (isinstance(tree, Leaf) and tree.value is None):
                raise _NotFound
            return self.without(type_.element, tree, path)
        if type_.kind == "struct" and not type_.codec:
            branch = tree if isinstance(tree, Branch) else None
            return self._from_struct(type_, branch, path)
        if type_.kind == "any":
            if not isinstance(tree, Branch):
                raise _NotFound
            return self._from_map(type_, tree, path)
        if type_.kind == "map" and isinstance(tree, Branch):
            return self._from_map(type_.element, tree, path)
        if type_.kind in ("list", "bytes"):
            return self._from_list(type_, tree, path)
        raise _NotFound

    def _from_struct(
        self, type_: SchemaType, branch: Branch | None, path: tuple[str, ...]
    ) -> Tree | None:
        first, remaining = path[0], path[1:]
        fields = (
            type_.named
            if self._includes_inline
            else {field.name: field for field in type_.fields if field.name}
        )
        field = fields.get(first)
        if field is None:
            if type_.free is None or not self._includes_inline or branch is None:
                raise _NotFound
            return self._from_map(type_.free.element, branch, path)
        if not remaining:
            if branch is None:
                return None
            return _without_key(branch, first)
        value = self.without(field.type, branch.get(first) if branch else None, remaining)
        if branch is None or value is None:
            return branch
        return Branch(branch.origin, {**branch, first: value})

    def _from_map(self, element: SchemaType, branch: Branch, path: tuple[str, ...]) -> Branch:
        first, remaining = path[0], path[1:]
        if first not in branch:
            raise _NotFound
        if not remaining:
            return _without_key(branch, first)
        value = self.without(element, branch[first], remaining)
        return Branch(
            branch.origin, {**branch, first: value if value is not None else branch[first]}
        )

    def _from_list(self, type_: SchemaType, tree: Tree | None, path: tuple[str, ...]) -> Tree:
        delete = self._delete
        if len(path) > 1 or not path[0].startswith("["):
            raise _delete_error(
                delete.at,
                delete.path,
                "the path goes through a list",
                "delete the whole item by its first key, and add the new item",
            )
        if isinstance(tree, Items):
            for index, item in enumerate(tree):
                if self._matches(type_.element, item):
                    return Items(tree.origin, [*tree[:index], *tree[index + 1 :]])
        raise _NotFound

    def _matches(self, element: SchemaType, item: Tree) -> bool:
        type_ = element.element if element.kind == "pointer" else element
        if type_.kind != "struct" or not isinstance(item, Branch):
            return False
        for field in type_.fields:
            if field.name == self._delete.key:
                return self._has_text(field.type, item.get(field.name))
        return False

    def _has_text(self, type_: SchemaType, tree: Tree | None) -> bool:
        """Whether a field has the text of the delete."""
        if type_.kind == "string" and not type_.codec:
            text = tree.value if isinstance(tree, Leaf) else ""
            return text == self._delete.value
        pointed = type_.element if type_.kind == "pointer" else type_
        if not pointed.speaks or not self._includes_inline:
            return False
        if type_.kind == "pointer" and tree is None:
            raise _delete_error(
                self._delete.at,
                self._delete.path,
                f"an earlier item has no {self._delete.key}, and Talos fails on it",
                "select the item by another key",
            )
        return isinstance(tree, Leaf) and str(tree.value) == self._delete.value


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
    root: Tree = copy_tree(document)
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
        return Leaf(None, self._operation.origin) if value is None else copy_tree(value)

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
        return copy_tree(value)

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


def _equal(ours: object, theirs: object) -> bool:
    """Whether two values are equal in JSON: true is not 1."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_equal(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_equal, ours, theirs))
    return isinstance(ours, bool) == isinstance(theirs, bool) and ours == theirs
