"""YAML text to tree, from the events of the parser; comments are put in afterwards."""

from __future__ import annotations

from typing import Any, NoReturn

import yaml

from stockman.crypto.sops import problems
from stockman.crypto.sops.scalars import Value, resolved
from stockman.crypto.sops.tree import MAX_DEPTH, Branch, Document, Entry, Items, Leaf, Sheet
from stockman.crypto.sops.yaml_comments import Comments
from stockman.model.origin import Position

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")


def read_yaml(file: str, text: str) -> Sheet:
    """The documents of a YAML file; raises with the place and the reason."""
    reader = _Reader(file, text)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except yaml.reader.ReaderError:
        raise problems.bad_syntax(file, "it holds a character that YAML does not allow") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Position(file, mark.line + 1, mark.column + 1) if mark else file
        # The parser's words quote indicators and names of tokens, never the text.
        raise problems.bad_syntax(where, str(error.problem or error.context)) from None
    return Sheet(file, text, reader.documents)


class _Reader:
    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._text = text
        self.documents: list[Document] = []
        self._open: list[Branch | Items] = []
        self._keys: list[tuple[str, int] | None] = []
        self._known: list[set[str]] = []
        self._root: Branch | None = None
        self._comments = Comments(text)

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._start(event, Branch(*_place(event), flow=bool(event.flow_style)))
        elif isinstance(event, yaml.SequenceStartEvent):
            self._start(event, Items(*_place(event), flow=bool(event.flow_style)))
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end(event)
        elif isinstance(event, yaml.AliasEvent):
            fix = "write the value out where it is needed"
            self._refuse(event, f"the alias *{event.anchor}", fix)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._root = None
            self._comments.begin(_index(event.end_mark))
        elif isinstance(event, yaml.DocumentEndEvent):
            self._document(event)

    def _document(self, event: yaml.DocumentEndEvent) -> None:
        end = _index(event.start_mark)
        if not event.explicit:
            end = max(end, self._comments.reached)
        root = self._root or Branch(end, 0, flow=False, end=end)
        self._comments.finish(root, end)
        self.documents.append(Document(root, end))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if event.anchor is not None:
            self._refuse(event, f"the anchor &{event.anchor}", "remove it")
        start, end = _index(event.start_mark), _index(event.end_mark)
        block = event.style in ("|", ">")
        if block:
            end = start + len(self._text[start:end].rstrip())
        self._comments.scalar(start, end, block=block)
        if self._expects_key:
            self._key(event, start)
            return
        if event.tag is not None and event.tag not in _TEXT_TAGS:
            self._refuse(event, f"the tag {event.tag!r}", "remove it, or quote the value")
        leaf = Leaf(self._value(event), start, end)
        if not self._open:
            if leaf.value is not None:
                self._not_a_mapping(event)
            return
        around = self._open[-1]
        leaf.flow, leaf.column = around.flow, around.column
        self._put(leaf, start)

    def _value(self, event: yaml.ScalarEvent) -> Value:
        if event.style not in (None, "") or event.tag is not None:
            return str(event.value)
        try:
            return resolved(event.value)
        except ValueError as error:
            self._refuse(event, str(error), "put it in quotes")

    def _key(self, event: yaml.ScalarEvent, start: int) -> None:
        key = self._value(event)
        plain = event.style in (None, "") and event.tag is None
        if not isinstance(key, str) or (plain and key == "<<"):
            self._refuse(event, f"the key {event.value!r}", "put the key in quotes")
        if key in self._known[-1]:
            raise problems.duplicate_key(self._at(event), key)
        self._known[-1].add(key)
        self._keys[-1] = (key, start)

    def _start(self, event: yaml.CollectionStartEvent, node: Branch | Items) -> None:
        if event.anchor is not None:
            self._refuse(event, f"the anchor &{event.anchor}", "remove it")
        if event.tag is not None:
            self._refuse(event, f"the tag {event.tag!r}", "remove it")
        if self._open and self._expects_key:
            self._refuse(event, "a mapping or list as key", "use a text as key")
        if not self._open and isinstance(node, Items):
            self._not_a_mapping(event)
        if len(self._open) >= MAX_DEPTH:
            self._refuse(event, f"nesting of more than {MAX_DEPTH} levels", "flatten it")
        if self._open:
            self._put(node, node.start)
        else:
            self._root = node if isinstance(node, Branch) else None
        self._comments.collection(node)
        self._open.append(node)
        self._keys.append(None)
        self._known.append(set())

    def _end(self, event: yaml.CollectionEndEvent) -> None:
        node = self._open.pop()
        self._keys.pop()
        self._known.pop()
        node.end = _index(event.end_mark)
        if node.flow:
            self._comments.flow_end(node.end)

    @property
    def _expects_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1], Branch) and self._keys[-1] is None

    def _put(self, node: Leaf | Branch | Items, start: int) -> None:
        parent = self._open[-1]
        if isinstance(parent, Items):
            parent.items.append(node)
            self._comments.entry(start, parent, node)
            return
        pending = self._keys[-1]
        if pending is not None:
            entry = Entry(pending[0], pending[1], node)
            parent.items.append(entry)
            self._keys[-1] = None
            self._comments.entry(entry.start, parent, entry)

    def _at(self, event: yaml.Event) -> Position:
        mark: Any = event.start_mark
        return Position(self._file, mark.line + 1, mark.column + 1)

    def _refuse(self, event: yaml.Event, what: str, fix: str) -> NoReturn:
        raise problems.unsupported(self._at(event), what, fix)

    def _not_a_mapping(self, event: yaml.Event) -> NoReturn:
        fix = "put it under a key, for example `data:`"
        self._refuse(event, "a document that is one list or one value", fix)


def _place(event: yaml.CollectionStartEvent) -> tuple[int, int]:
    mark: Any = event.start_mark
    return mark.index, mark.column


def _index(mark: Any) -> int:  # noqa: ANN401  # the C parser has a mark class of its own
    return int(mark.index)
