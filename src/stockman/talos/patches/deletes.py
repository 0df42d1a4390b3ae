"""`$patch: delete`: found in the text of a patch, applied to the documents."""

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
"""The first minor that looks into embedded structs for what to delete."""
_EMPTY_DOCUMENT_KEYS = frozenset({"version", "kind", "name"})


@record
class PatchDelete:
    """One thing to delete: a document, a field, or the item of a list that has a key's value."""

    api_version: str
    kind: str
    name: str
    path: tuple[str, ...]
    """Keys from the top; `[2]` last for an item of a list. Empty: the document itself."""
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
    """A document without its deletes, and these. None: nothing else is in the document.

    The document is changed.
    """
    found: list[PatchDelete] = []
    gone = _collect_deletes(None, document, (), document, found)
    if gone or _is_empty(document):
        return None, found
    return document, found


def _collect_deletes(
    parent: TreeNode | None,
    node: TreeNode,
    path: tuple[str, ...],
    root: TreeNode,
    found: list[PatchDelete],
) -> bool:
    """Collect the deletes below a node; whether nothing of the node is left."""
    if isinstance(node, MappingNode):
        for key, entry in list(node.entries.items()):
            value = entry.value
            if key == _PATCH_KEY and isinstance(value, ScalarNode) and value.text == "delete":
                found.append(_build_delete(parent, node, path, root, entry.key.at))
                return True
            if _collect_deletes(node, value, (*path, key), root, found):
                del node.entries[key]
                if not node.entries:
                    return True
    elif isinstance(node, SequenceNode):
        index = 0
        while index < len(node.items):
            if _collect_deletes(node, node.items[index], (*path, f"[{index}]"), root, found):
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
            "it stands inside of an item of a list",
            "delete the whole item by its first key, and add it again as it shall be",
        )
    api_version, kind = _text(root, "apiVersion"), _text(root, "kind")
    if not path and (api_version is None or kind is None):
        raise _delete_error(
            at,
            path,
            "a document is deleted by its apiVersion and kind, and one of them is missing",
            "write both; the document `machine:` and `cluster:` stand in cannot be deleted",
        )
    if bool(api_version) != bool(kind):
        raise _delete_error(
            at, path, "apiVersion and kind belong together, and one is missing", "write both"
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
    """The first key besides the mark, and its value: they say which item goes."""
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
        "nothing says which item of the list shall go",
        "write one more key of the item beside `$patch: delete`, `interface: eth0`",
    )


def _text(root: TreeNode, key: str) -> str | None:
    found = root.get(key) if isinstance(root, MappingNode) else None
    if found is None:
        return None
    return found.text if isinstance(found, ScalarNode) else ""


def _is_empty(document: TreeNode) -> bool:
    """Whether only keys that change nothing are left; `apiVersion` is none of them in Talos."""
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
    """What shall be deleted is not there."""


def apply_delete(
    table: TypeSchema, type_: SchemaType, document: Branch, delete: PatchDelete
) -> Branch:
    """The document without what is deleted; the one given is not changed."""
    try:
        result = _Deletion(table, delete).without(type_, document, delete.path)
    except _NotFound:
        raise _delete_error(
            delete.at,
            delete.path,
            f"the document {delete.kind} has nothing like that",
            "check the path, or remove the delete",
        ) from None
    return result if isinstance(result, Branch) else document


class _Deletion:
    def __init__(self, table: TypeSchema, delete: PatchDelete) -> None:
        self._delete = delete
        self._sees_inline = table.number >= _INLINE_DELETES_SINCE

    def without(self, type_: SchemaType, tree: Tree | None, path: tuple[str, ...]) -> Tree | None:
        if type_.kind == "pointer":
            if tree is None or (isinstance(tree, Leaf) and tree.value is None):
                raise _NotFound
            return self.without(type_.element, tree, path)
        if type_.kind == "struct" and not type_.codec:
            branch = tree if isinstance(tree, Branch) else None
            return self._from_struct(type_, branch, path)
        if type_.kind == "any":
            return self._from_anything(tree, path)
        if type_.kind == "map" and isinstance(tree, Branch):
            return self._from_map(type_.element, tree, path)
        if type_.kind in ("list", "bytes"):
            return self._from_list(type_, tree, path)
        raise _NotFound

    def _from_struct(
        self, type_: SchemaType, branch: Branch | None, path: tuple[str, ...]
    ) -> Tree | None:
        first, rest = path[0], path[1:]
        fields = (
            type_.named
            if self._sees_inline
            else {field.name: field for field in type_.fields if field.name}
        )
        field = fields.get(first)
        if field is None:
            if type_.free is None or not self._sees_inline or branch is None:
                raise _NotFound
            return self._from_map(type_.free.element, branch, path)
        if not rest:
            if branch is None:
                return None
            return Branch(branch.origin, {key: one for key, one in branch.items() if key != first})
        value = self.without(field.type, branch.get(first) if branch else None, rest)
        if branch is None or value is None:
            return branch
        return Branch(branch.origin, {**branch, first: value})

    def _from_map(self, element: SchemaType, branch: Branch, path: tuple[str, ...]) -> Branch:
        first, rest = path[0], path[1:]
        if first not in branch:
            raise _NotFound
        if not rest:
            return Branch(branch.origin, {key: one for key, one in branch.items() if key != first})
        value = self.without(element, branch[first], rest)
        return Branch(
            branch.origin, {**branch, first: value if value is not None else branch[first]}
        )

    def _from_anything(self, tree: Tree | None, path: tuple[str, ...]) -> Tree:
        if not isinstance(tree, Branch) or path[0] not in tree:
            raise _NotFound
        first, rest = path[0], path[1:]
        if not rest:
            return Branch(tree.origin, {key: one for key, one in tree.items() if key != first})
        return Branch(tree.origin, {**tree, first: self._from_anything(tree[first], rest)})

    def _from_list(self, type_: SchemaType, tree: Tree | None, path: tuple[str, ...]) -> Tree:
        delete = self._delete
        if len(path) > 1 or not path[0].startswith("["):
            raise _delete_error(
                delete.at,
                delete.path,
                "the path goes through a list",
                "delete the whole item by its first key, and add it again as it shall be",
            )
        if isinstance(tree, Items):
            for index, item in enumerate(tree):
                if self._is_meant(type_.element, item):
                    return Items(tree.origin, [*tree[:index], *tree[index + 1 :]])
        raise _NotFound

    def _is_meant(self, element: SchemaType, item: Tree) -> bool:
        type_ = element.element if element.kind == "pointer" else element
        if type_.kind != "struct" or not isinstance(item, Branch):
            return False
        for field in type_.fields:
            if field.name == self._delete.key:
                return self._says(field.type, item.get(field.name))
        return False

    def _says(self, type_: SchemaType, tree: Tree | None) -> bool:
        """Whether a field says the text that was asked for."""
        if type_.kind == "string" and not type_.codec:
            text = tree.value if isinstance(tree, Leaf) else ""
            return text == self._delete.value
        pointed = type_.element if type_.kind == "pointer" else type_
        if not pointed.speaks or not self._sees_inline:
            return False
        if type_.kind == "pointer" and tree is None:
            raise _delete_error(
                self._delete.at,
                self._delete.path,
                f"an item before it has no {self._delete.key}, at which Talos gives up",
                "choose the item by another key",
            )
        return isinstance(tree, Leaf) and str(tree.value) == self._delete.value
