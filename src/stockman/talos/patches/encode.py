"""A tree of Talos' types to the tree that Talos prints: its order, its zero values."""

from __future__ import annotations

from datetime import datetime

from stockman.talos.patches import codecs
from stockman.talos.patches.resolve import moment_text
from stockman.talos.patches.table import NUMBERS, Type
from stockman.talos.patches.tree import UNWRITTEN, Branch, Items, Leaf, Tree

_ZEROES: dict[str, object] = {"string": "", "bool": False, "duration": "0s"} | dict.fromkeys(
    NUMBERS, 0
)
_DECIDING = {
    "block.EncryptionSpec": ("provider", "keys"),
    "runtime.ProvisioningSpec": ("diskSelector",),
}
"""Structs that Talos leaves out by these fields alone."""


def encoded(type_: Type, tree: Tree | None) -> Tree:
    """The tree as Talos prints it. Fields that nobody wrote have the origin UNWRITTEN."""
    if type_.kind == "pointer":
        return Leaf(None, UNWRITTEN) if tree is None else encoded(type_.element, tree)
    if isinstance(tree, Leaf) and tree.value is None and type_.kind != "any":
        return tree
    if type_.codec and type_.kind not in ("list", "map") and not type_.codec.startswith("x509."):
        return _coded(type_, tree)
    if type_.kind == "struct":
        return _struct(type_, tree if isinstance(tree, Branch) else Branch(UNWRITTEN))
    if type_.kind == "list":
        items = tree if isinstance(tree, Items) else Items(UNWRITTEN)
        return Items(items.origin, [encoded(type_.element, item) for item in items])
    if type_.kind == "map":
        entries = tree if isinstance(tree, Branch) else Branch(UNWRITTEN)
        return Branch(
            entries.origin,
            {key: encoded(type_.element, entries[key]) for key in sorted(entries)},
        )
    return _value(type_, tree)


def is_zero(type_: Type, tree: Tree | None) -> bool:
    """Whether a value is left out where the field says so: empty lists and mappings count."""
    if tree is None:
        return True
    if type_.kind == "pointer":
        return False
    if isinstance(tree, Leaf):
        if type_.codec:
            return codecs.is_empty(type_, tree.value)
        return tree.value == _ZEROES.get(type_.kind)
    if isinstance(tree, Items):
        return not tree and not type_.zeroes
    if type_.kind == "map":
        return not tree
    fields = type_.named
    deciding = _DECIDING.get(type_.name, tuple(tree)) if type_.zeroes else tuple(tree)
    return all(key in fields and is_zero(fields[key].type, tree.get(key)) for key in deciding)


def _struct(type_: Type, branch: Branch) -> Branch:
    result = Branch(branch.origin)
    for field in type_.flat:
        if not field.name:
            result.update(_free(type_, branch))
            continue
        value = branch.get(field.name)
        if not (field.omits and is_zero(field.type, value)):
            result[field.name] = encoded(field.type, value)
    return result


def _free(type_: Type, branch: Branch) -> dict[str, Tree]:
    element = type_.free.element if type_.free is not None else type_
    return {key: encoded(element, branch[key]) for key in sorted(branch) if key not in type_.named}


def _coded(type_: Type, tree: Tree | None) -> Tree:
    if type_.name.endswith(".ArgValue"):
        if tree is None or (isinstance(tree, Leaf) and tree.value == ""):
            return Leaf(None, UNWRITTEN if tree is None else tree.origin)
        return tree
    if tree is not None:
        return tree
    if type_.words:
        unnamed = f"{type_.name.rpartition('.')[2]}(0)"
        zero = next((word for word, number in type_.words.items() if number == 0), unnamed)
        return Leaf(zero, UNWRITTEN)
    return Leaf(0 if type_.kind in NUMBERS else "", UNWRITTEN)


def _value(type_: Type, tree: Tree | None) -> Tree:
    if type_.kind == "any":
        return _anything(tree)
    if isinstance(tree, Leaf):
        return tree
    return Leaf(_ZEROES.get(type_.kind, ""), UNWRITTEN)


def _anything(tree: Tree | None) -> Tree:
    if tree is None:
        return Leaf(None, UNWRITTEN)
    if isinstance(tree, Branch):
        return Branch(tree.origin, {key: _anything(tree[key]) for key in sorted(tree)})
    if isinstance(tree, Items):
        return Items(tree.origin, [_anything(item) for item in tree])
    if isinstance(tree.value, datetime):
        return Leaf(moment_text(tree.value), tree.origin)
    return tree
