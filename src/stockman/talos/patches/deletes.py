"""`$patch: delete`: extracted from the text of a patch, applied to the documents."""

from __future__ import annotations

from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode
from stockman.model.origin import Position
from stockman.model.record import record
from stockman.talos.patches.patch import InvalidValue
from stockman.talos.patches.schema import SchemaType, TypeSchema
from stockman.talos.patches.tree import Branch, Items, Leaf, Tree

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
            return self._from_any(tree, path)
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
            return Branch(
                branch.origin, {key: item for key, item in branch.items() if key != first}
            )
        value = self.without(field.type, branch.get(first) if branch else None, remaining)
        if branch is None or value is None:
            return branch
        return Branch(branch.origin, {**branch, first: value})

    def _from_map(self, element: SchemaType, branch: Branch, path: tuple[str, ...]) -> Branch:
        first, remaining = path[0], path[1:]
        if first not in branch:
            raise _NotFound
        if not remaining:
            return Branch(
                branch.origin, {key: item for key, item in branch.items() if key != first}
            )
        value = self.without(element, branch[first], remaining)
        return Branch(
            branch.origin, {**branch, first: value if value is not None else branch[first]}
        )

    def _from_any(self, tree: Tree | None, path: tuple[str, ...]) -> Tree:
        if not isinstance(tree, Branch) or path[0] not in tree:
            raise _NotFound
        first, remaining = path[0], path[1:]
        if not remaining:
            return Branch(tree.origin, {key: item for key, item in tree.items() if key != first})
        return Branch(tree.origin, {**tree, first: self._from_any(tree[first], remaining)})

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
