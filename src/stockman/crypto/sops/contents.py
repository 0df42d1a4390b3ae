"""The content of a decrypted file: as data, as a list of paths, and single values as text."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.crypto.sops.decryption import DecryptedFile
from stockman.crypto.sops.paths import ValuePath
from stockman.crypto.sops.scalars import CommentText, SopsValue, Timestamp, go_float
from stockman.crypto.sops.tree import (
    METADATA_KEY,
    SopsComment,
    SopsMapping,
    SopsNode,
    SopsScalar,
    SopsSequence,
)
from stockman.crypto.sops.update import value_not_found

PlainData = str | int | float | bool | None | list["PlainData"] | dict[str, "PlainData"]


def to_data(file: DecryptedFile) -> PlainData:
    """Return the values of a file as JSON data; several documents become a list."""
    reader = _ContentReader(file)
    documents: list[PlainData] = [
        reader.data(document.root, top=True) for document in file.parsed.documents
    ]
    return documents[0] if len(documents) == 1 else documents


def data_at(file: DecryptedFile, path: ValuePath) -> PlainData:
    """Return the value, mapping or list at a path of the first document."""
    data = _ContentReader(file).data(file.parsed.documents[0].root, top=True)
    for depth, step in enumerate(path):
        if isinstance(data, dict) and str(step) in data:
            data = data[str(step)]
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            raise value_not_found(file, path[: depth + 1], "there is nothing")
    return data


def list_paths(file: DecryptedFile) -> Iterator[ValuePath]:
    """Yield the path of every value of the first document, in order."""
    return _ContentReader(file).paths(file.parsed.documents[0].root, (), top=True)


def format_value(value: SopsValue) -> str:
    """Return a value as plain text."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        return go_float(value)
    return value.text if isinstance(value, Timestamp | CommentText) else str(value)


class _ContentReader:
    def __init__(self, file: DecryptedFile) -> None:
        self._values = {id(slot.node): slot.value for slot in file.slots}

    def data(self, node: SopsNode, *, top: bool = False) -> PlainData:
        if isinstance(node, SopsMapping):
            return {
                entry.key: self.data(entry.node)
                for entry in node.entries()
                if not (top and entry.key == METADATA_KEY)
            }
        if isinstance(node, SopsSequence):
            return [self.data(item) for item in self._items(node)]
        value = self._values.get(id(node))
        if isinstance(value, Timestamp | CommentText):
            return value.text
        if isinstance(value, str):
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return value

    def paths(self, node: SopsNode, path: ValuePath, *, top: bool = False) -> Iterator[ValuePath]:
        if isinstance(node, SopsMapping):
            for entry in node.entries():
                if not (top and entry.key == METADATA_KEY):
                    yield from self.paths(entry.node, (*path, entry.key))
        elif isinstance(node, SopsSequence):
            for index, item in enumerate(self._items(node)):
                yield from self.paths(item, (*path, index))
        else:
            yield path

    def _items(self, items: SopsSequence) -> Iterator[SopsNode]:
        for item in items.items:
            is_comment = isinstance(item, SopsScalar) and isinstance(
                self._values.get(id(item)), CommentText
            )
            if not isinstance(item, SopsComment) and not is_comment:
                yield item
