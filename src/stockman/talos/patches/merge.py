"""Merge two typed trees by Talos' rules: the right one is the patch."""

from __future__ import annotations

from collections.abc import Callable

from stockman.model.origin import Origin
from stockman.model.secret import Secret
from stockman.talos.patches import encode
from stockman.talos.patches.patch import InvalidValue, path_text
from stockman.talos.patches.scalars import merge_urls, parse_url
from stockman.talos.patches.schema import NUMBERS, Branch, Items, Leaf, SchemaType, Tree, TypeSchema

Path = tuple[str | int, ...]
_NETWORK_TYPES = ("Addr", "AddrPort", "Prefix")
_POINTERS_OVERWRITE = 12
"""The first minor where a zero value behind a pointer overwrites."""


def merge_documents(schema: TypeSchema, type_: SchemaType, left: Branch, right: Branch) -> Branch:
    """Return a document with a patch merged into it. The arguments are not changed."""
    return _Merge(schema).struct(type_, left, right, ())


class _Merge:
    def __init__(self, table: TypeSchema) -> None:
        self._zero_overwrites = table.number >= _POINTERS_OVERWRITE

    def struct(self, type_: SchemaType, left: Branch, right: Branch, path: Path) -> Branch:
        result = Branch(left.origin, left)
        for field in type_.flat:
            if not field.name:
                self._merge_free_form(type_, result, right, path)
                continue
            key = field.name
            value_path = (*path, key)
            value = self.value(
                field.type, left.get(key), right.get(key), value_path, field.replaces, right.origin
            )
            if value is None:
                result.pop(key, None)
            else:
                result[key] = value
        return result

    def value(  # noqa: PLR0913 - the six inputs of Talos' rules
        self,
        type_: SchemaType,
        left: Tree | None,
        right: Tree | None,
        path: Path,
        replaces: bool,
        origin: Origin,
    ) -> Tree | None:
        """Merge two values. None: the zero value. `origin`: of the mapping that contains right."""
        if type_.merges:
            return self._merge_own(type_, left, right, path)
        if type_.kind == "pointer":
            return self._merge_pointer(type_, left, right, path, replaces)
        if type_.kind == "struct":
            return self._merge_struct(type_, left, right, path, replaces, origin)
        if type_.kind == "bool":
            return self._merge_flag(left, right, origin)
        if right is None:
            return left
        if type_.kind == "list":
            return right if replaces else _append_items(left, right)
        if type_.kind == "map":
            if replaces or not isinstance(left, Branch) or not isinstance(right, Branch):
                return right
            return self._merge_map(type_.element, left, right, path)
        if type_.kind == "bytes":
            return right
        return left if _is_zero(type_, right) else right

    def _merge_free_form(
        self, type_: SchemaType, result: Branch, right: Branch, path: Path
    ) -> None:
        """Merge the free-form keys of a struct as one map."""
        element = type_.free.element if type_.free is not None else type_
        extra = {key: item for key, item in right.items() if key not in type_.named}
        ours = {key: item for key, item in result.items() if key not in type_.named}
        result.update(
            self._merge_map(element, Branch(result.origin, ours), Branch(right.origin, extra), path)
        )

    def _merge_flag(self, left: Tree | None, right: Tree | None, origin: Origin) -> Tree | None:
        """A boolean without pointer always overwrites, even if the patch does not set it."""
        if right is not None:
            return right
        is_set = isinstance(left, Leaf) and left.value is True
        return Leaf(False, origin) if is_set else left

    def _merge_pointer(
        self, type_: SchemaType, left: Tree | None, right: Tree | None, path: Path, replaces: bool
    ) -> Tree | None:
        if right is None or left is None:
            return left if right is None else right
        element = type_.element
        plain = element.kind in NUMBERS or element.kind in ("string", "bool", "duration")
        if plain and not element.merges:
            keep = _is_zero(element, right) and not self._zero_overwrites and element.kind != "bool"
            return left if keep else right
        return self.value(element, left, right, path, replaces, right.origin)

    def _merge_struct(  # noqa: PLR0913 - as above
        self,
        type_: SchemaType,
        left: Tree | None,
        right: Tree | None,
        path: Path,
        replaces: bool,
        origin: Origin,
    ) -> Tree | None:
        if type_.codec:
            return _merge_text_type(type_, left, right, path)
        if replaces:
            return left if right is None or _all_zero(right) else right
        theirs = right if isinstance(right, Branch) else Branch(origin)
        ours = left if isinstance(left, Branch) else Branch(theirs.origin)
        result = self.struct(type_, ours, theirs, path)
        return result if result or left is not None or right is not None else None

    def _merge_map(self, element: SchemaType, left: Branch, right: Branch, path: Path) -> Branch:
        result = Branch(left.origin, left)
        for key, theirs in right.items():
            value_path = (*path, key)
            ours = left.get(key)
            if ours is None or (isinstance(ours, Leaf) and ours.value is None):
                result[key] = theirs
            elif element.kind == "any":
                result[key] = self._merge_any(ours, theirs, value_path)
            else:
                value = self.value(element, ours, theirs, value_path, False, right.origin)
                result[key] = theirs if value is None else value
        return result

    def _merge_any(self, left: Tree, right: Tree, path: Path) -> Tree:
        if _value_type(left) is not _value_type(right):
            raise _merge_error(
                right.origin,
                path,
                f"the configuration has {_value_type_name(left)}, "
                f"but the patch has {_value_type_name(right)}",
            )
        if isinstance(left, Branch) and isinstance(right, Branch):
            result = Branch(left.origin, left)
            for key, theirs in right.items():
                ours = left.get(key)
                if ours is None or (isinstance(ours, Leaf) and ours.value is None):
                    result[key] = theirs
                else:
                    result[key] = self._merge_any(ours, theirs, (*path, key))
            return result
        if isinstance(left, Items):
            return _append_items(left, right)
        return (
            left
            if isinstance(right, Leaf)
            and right.value in ("", 0, 0.0)
            and (not isinstance(right.value, bool))
            else right
        )

    def _merge_own(
        self, type_: SchemaType, left: Tree | None, right: Tree | None, path: Path
    ) -> Tree | None:
        """Merge types with their own merge function."""
        short = type_.name.rpartition(".")[2]
        if short in ("ByteSize", "Expression"):
            return right
        if short in _NETWORK_TYPES:
            return left if right is None or _is_zero(type_, right) else right
        if not right:
            return left
        if short == "Args" and isinstance(right, Branch):
            ours = left if isinstance(left, Branch) else {}
            return Branch(right.origin, {**ours, **right})
        if not isinstance(right, Items):
            return right
        ours_items = left if isinstance(left, Items) else Items(right.origin)
        if short == "ImageVerificationRules":
            return _merge_by_image(ours_items, right)
        return self._merge_by_key(type_, ours_items, right, _KEYS[short], path)

    def _merge_by_key(
        self,
        type_: SchemaType,
        left: Items,
        right: Items,
        same: Callable[[Branch, Branch], bool],
        path: Path,
    ) -> Items:
        """Merge items with the same key, and append the others."""
        result = Items(left.origin, list(left))
        item_type = type_.element.element if type_.element.kind == "pointer" else type_.element
        for theirs in right:
            if not isinstance(theirs, Branch):
                raise _merge_error(right.origin, path, "the list contains null")
            for index, ours in enumerate(result):
                if not isinstance(ours, Branch):
                    raise _merge_error(
                        theirs.origin, path, "the list in the configuration contains null"
                    )
                if same(ours, theirs):
                    result[index] = self.struct(item_type, ours, theirs, (*path, index))
                    break
            else:
                result.append(theirs)
        return result


def _text(branch: Branch, key: str) -> object:
    leaf = branch.get(key)
    return leaf.value if isinstance(leaf, Leaf) else None


def _same_text(key: str, zero: object) -> Callable[[Branch, Branch], bool]:
    return lambda ours, theirs: (_text(ours, key) or zero) == (_text(theirs, key) or zero)


def _same_device(ours: Branch, theirs: Branch) -> bool:
    """Whether two devices have the same name, or the same selector if the patch has no name."""
    name = _text(theirs, "interface")
    if name:
        return _text(ours, "interface") == name
    selectors = [device.get("deviceSelector") for device in (ours, theirs)]
    texts = []
    for selector in selectors:
        if not isinstance(selector, Branch):
            return False
        # Talos compares the pointers of this value, which always differ.
        if "physical" in selector:
            return False
        texts.append({key: _text(selector, key) for key in selector if _text(selector, key)})
    return texts[0] == texts[1]


_KEYS: dict[str, Callable[[Branch, Branch], bool]] = {
    "AdmissionPluginConfigList": _same_text("name", ""),
    "ConfigFileList": _same_text("mountPath", ""),
    "NetworkDeviceList": _same_device,
    "VlanList": _same_text("vlanId", 0),
}


def _merge_by_image(left: Items, right: Items) -> Items:
    """Replace rules with the same image pattern, and append the others."""
    result = Items(left.origin, list(left))
    positions = {
        _text(item, "image") or "": index
        for index, item in enumerate(left)
        if isinstance(item, Branch)
    }
    for item in right:
        index = positions.get(_text(item, "image") or "") if isinstance(item, Branch) else None
        if index is None:
            result.append(item)
        else:
            result[index] = item
    return result


def _append_items(left: Tree | None, right: Tree) -> Tree:
    if not isinstance(left, Items) or not isinstance(right, Items):
        return right
    return Items(left.origin, [*left, *right])


def _merge_text_type(
    type_: SchemaType, left: Tree | None, right: Tree | None, path: Path
) -> Tree | None:
    """Merge types with custom text whose struct fields Talos merges."""
    short = type_.name.rpartition(".")[2]
    if short in _NETWORK_TYPES:
        at = right.origin if right is not None else None
        raise _merge_error(at, path, "this Talos minor cannot merge a document with this field")
    if right is None or left is None:
        return left if right is None else right
    if short == "InstallDiskSizeMatcher":
        raise _merge_error(right.origin, path, "Talos cannot merge two size conditions")
    if not isinstance(left, Leaf) or not isinstance(right, Leaf):
        return right
    if isinstance(left.value, Secret) or isinstance(right.value, Secret):
        return right
    if short == "Size":
        hidden = "%" in str(right.value) and left.value != "" and "%" not in str(left.value)
        return left if hidden or right.value == "" else right
    if short in ("URL", "Endpoint"):
        try:
            return Leaf(
                str(merge_urls(parse_url(str(left.value)), parse_url(str(right.value)))),
                right.origin,
            )
        except ValueError as error:
            raise _merge_error(right.origin, path, str(error)) from None
    return right


def _is_zero(type_: SchemaType, tree: Tree) -> bool:
    if not isinstance(tree, Leaf):
        return False
    if type_.codec:
        return encode.is_empty(type_, tree.value)
    return (
        tree.value == "" or (tree.value == 0) or (type_.kind == "duration" and tree.value == "0s")
    )


def _all_zero(tree: Tree) -> bool:
    return isinstance(tree, Branch) and not tree


def _value_type(tree: Tree) -> type:
    return type(tree.value) if isinstance(tree, Leaf) else type(tree)


def _value_type_name(tree: Tree) -> str:
    names = {
        Branch: "a mapping",
        Items: "a list",
        str: "a text",
        bool: "true or false",
        int: "a whole number",
        float: "a fraction",
        type(None): "null",
    }
    return names.get(_value_type(tree), "a time")


def _merge_error(origin: Origin | None, path: Path, why: str) -> InvalidValue:
    return InvalidValue(
        code="patch.merge",
        what=f"{path_text(path)} cannot be merged",
        why=why,
        fix=f"delete {path_text(path)} in a patch before this one, or leave it out value_path",
        at=origin.at if origin is not None and not origin.is_derived else None,
    )
