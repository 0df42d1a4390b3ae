"""One value of an encrypted file by its path: found, and set."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.crypto.age.identities import Identity
from stockman.crypto.sops.opening import Opened, opened
from stockman.crypto.sops.paths import Path, shown_path
from stockman.crypto.sops.scalars import Remark, Value, same
from stockman.crypto.sops.sealing import Fresh
from stockman.crypto.sops.stable import replaced
from stockman.crypto.sops.tree import METADATA_KEY, Branch, Items, Leaf, Node, Note
from stockman.crypto.sops.walking import Slot
from stockman.model.errors import NotFound
from stockman.model.problem import Problem
from stockman.model.record import record


@record
class NewValue:
    """A value for one place of a file."""

    path: Path
    value: Value


def value_at(file: Opened, path: Path) -> Value:
    """The value at a path of the first document; None: it is null there."""
    node = _node(file, path)
    for slot in file.slots:
        if slot.node is node:
            return slot.value
    return None


def with_value(
    content: bytes, file: str, new: NewValue, identities: Sequence[Identity], fresh: Fresh
) -> bytes:
    """The file with another value at a path that has one; the same value changes nothing."""
    old = opened(content, file, identities)
    slot = _slot(old, new.path)
    if same(slot.value, new.value):
        return content
    return replaced(old, [(slot, new.value)], fresh)


def _slot(file: Opened, path: Path) -> Slot:
    node = _node(file, path)
    for slot in file.slots:
        if slot.node is node:
            return slot
    raise no_value(file, path, "there is null, which is not encrypted")


def _node(file: Opened, path: Path) -> Leaf:
    node: Node | None = file.sheet.documents[0].root
    comments = {id(slot.node) for slot in file.slots if isinstance(slot.value, Remark)}
    for depth, step in enumerate(path):
        node = None if depth == 0 and step == METADATA_KEY else child(node, step, comments)
        if node is None:
            raise no_value(file, path[: depth + 1], "there is nothing")
    if not isinstance(node, Leaf):
        raise no_value(file, path, "there is a mapping or a list, not one value")
    return node


def child(node: Node | None, step: str | int, comments: set[int]) -> Node | None:
    """What stands at one step below a node; `comments` are ids of items that are comments."""
    if isinstance(node, Branch):
        entry = node.entry(str(step))
        return entry.node if entry else None
    if isinstance(node, Items) and isinstance(step, int):
        items = [
            item for item in node.items if not isinstance(item, Note) and id(item) not in comments
        ]
        return items[step] if 0 <= step < len(items) else None
    return None


def no_value(file: Opened, path: Path, why: str) -> NotFound:
    """Nothing that could be given out stands at a path."""
    return NotFound(
        Problem(
            code="sops.no-value",
            what=f"the file has no value at {shown_path(path)}",
            where=file.sheet.file,
            why=why,
            fix="list its keys with `stockman secrets get -o name` and correct the path",
        )
    )
