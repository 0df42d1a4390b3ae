"""What an opened file says: as data for programs, as a list of paths, and one value as text."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.crypto.sops.lookup import no_value
from stockman.crypto.sops.opening import Opened
from stockman.crypto.sops.paths import Path
from stockman.crypto.sops.scalars import Remark, Timestamp, Value, go_float
from stockman.crypto.sops.tree import METADATA_KEY, Branch, Items, Leaf, Node, Note

Data = str | int | float | bool | None | list["Data"] | dict[str, "Data"]


def data_of(file: Opened) -> Data:
    """The values of a file as JSON knows them; several documents become a list."""
    reader = _Reader(file)
    found: list[Data] = [reader.data(one.root, top=True) for one in file.sheet.documents]
    return found[0] if len(found) == 1 else found


def data_at(file: Opened, path: Path) -> Data:
    """What stands at a path of the first document: a value, a mapping or a list."""
    found = _Reader(file).data(file.sheet.documents[0].root, top=True)
    for depth, step in enumerate(path):
        if isinstance(found, dict) and str(step) in found:
            found = found[str(step)]
        elif isinstance(found, list) and isinstance(step, int) and step < len(found):
            found = found[step]
        else:
            raise no_value(file, path[: depth + 1], "there is nothing")
    return found


def paths_of(file: Opened) -> Iterator[Path]:
    """The path of every value of the first document, in its order."""
    return _Reader(file).paths(file.sheet.documents[0].root, (), top=True)


def value_text(value: Value) -> str:
    """A value as text, for programs that want nothing else."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        return go_float(value)
    return value.text if isinstance(value, Timestamp | Remark) else str(value)


class _Reader:
    def __init__(self, file: Opened) -> None:
        self._values = {id(slot.node): slot.value for slot in file.slots}

    def data(self, node: Node, *, top: bool = False) -> Data:
        if isinstance(node, Branch):
            return {
                entry.key: self.data(entry.node)
                for entry in node.entries()
                if not (top and entry.key == METADATA_KEY)
            }
        if isinstance(node, Items):
            return [self.data(item) for item in self._items(node)]
        value = self._values.get(id(node))
        if isinstance(value, Timestamp | Remark):
            return value.text
        if isinstance(value, str):
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return value

    def paths(self, node: Node, path: Path, *, top: bool = False) -> Iterator[Path]:
        if isinstance(node, Branch):
            for entry in node.entries():
                if not (top and entry.key == METADATA_KEY):
                    yield from self.paths(entry.node, (*path, entry.key))
        elif isinstance(node, Items):
            for place, item in enumerate(self._items(node)):
                yield from self.paths(item, (*path, place))
        else:
            yield path

    def _items(self, items: Items) -> Iterator[Node]:
        for item in items.items:
            is_comment = isinstance(item, Leaf) and isinstance(self._values.get(id(item)), Remark)
            if not isinstance(item, Note) and not is_comment:
                yield item
