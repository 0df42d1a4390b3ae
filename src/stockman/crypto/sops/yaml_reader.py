"""Parse YAML into a tree with positions and comments.

SOPS binds an encrypted comment to the keys above it, so every comment must be attached as in the Go
library: an inline comment to its value; a comment on its own line to the next key or item if that
starts in the same column, and otherwise after the previous one: at its depth, or, if a blank line
follows the comment, in the column of the comment.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NoReturn

import yaml

from stockman.crypto.sops import problems
from stockman.crypto.sops.scalars import SopsValue, resolve_scalar
from stockman.crypto.sops.tree import (
    MAX_DEPTH,
    ParsedFile,
    SopsComment,
    SopsDocument,
    SopsEntry,
    SopsMapping,
    SopsScalar,
    SopsSequence,
)
from stockman.model.origin import Position
from stockman.model.pattern import pattern

_COMMENT = pattern(r"#([^\n]*)")
_BLANK_AFTER = pattern(r"(?:\n[ \t]*#[^\n]*)*\n[ \t]*\n")


class _PlacedItem:
    """A key or item in text order."""

    __slots__ = ("item", "parent", "start")

    def __init__(
        self,
        start: int,
        parent: SopsMapping | SopsSequence,
        item: SopsEntry | SopsScalar | SopsMapping | SopsSequence,
    ) -> None:
        self.start = start
        self.parent = parent
        self.item = item

    @property
    def node(self) -> SopsScalar | SopsMapping | SopsSequence:
        return self.item.node if isinstance(self.item, SopsEntry) else self.item


class CommentPlacer:
    """Collects comments between the tokens of a document, then inserts them into its tree."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._has_comments = "#" in text
        self.reached = 0
        self._notes: list[SopsComment] = []
        self._placed: list[_PlacedItem] = []
        self._parents: dict[int, _PlacedItem] = {}
        self._flows: list[SopsMapping | SopsSequence] = []
        self._before = -1

    def begin_document(self, index: int) -> None:
        """Start a document; comments above its `---` do not belong to it."""
        self._placed = []
        self._parents = {}
        self._flows = []
        self._collect_comments(index)

    def add_scalar(self, start: int, end: int, *, block: bool) -> None:
        self._collect_comments(start)
        self.reached = end
        if block and self._has_comments:
            header_end = self._text.find("\n", start, end)
            match = _COMMENT.search(self._text, start, header_end if header_end >= 0 else end)
            if match:
                self._notes.append(SopsComment(match[1], end, end, own_line=False, tail=True))

    def add_collection(self, node: SopsMapping | SopsSequence) -> None:
        if node.flow:
            self._flows.append(node)
            self._collect_comments(node.start)
            self.reached = max(self.reached, node.start + 1)

    def end_flow(self, end: int) -> None:
        self._collect_comments(end)

    def add_entry(
        self,
        start: int,
        parent: SopsMapping | SopsSequence,
        item: SopsEntry | SopsScalar | SopsMapping | SopsSequence,
    ) -> None:
        placed = _PlacedItem(start, parent, item)
        self._placed.append(placed)
        if not isinstance(placed.node, SopsScalar):
            self._parents[id(placed.node)] = placed

    def finish_document(self, root: SopsMapping, end: int) -> None:
        """Insert all comments of the document into its tree."""
        self._collect_comments(end)
        notes, self._notes = self._notes, []
        self._before = -1
        for note in notes:
            self._place_comment(note, root)

    def _collect_comments(self, end: int) -> None:
        if self._has_comments and end > self.reached:
            for match in _COMMENT.finditer(self._text, self.reached, end):
                line = self._text.rfind("\n", 0, match.start()) + 1
                own = not self._text[line : match.start()].strip()
                self._notes.append(SopsComment(match[1], match.start(), match.end(), own_line=own))
        self.reached = max(self.reached, end)

    def _place_comment(self, note: SopsComment, root: SopsMapping) -> None:
        index = bisect_left(self._placed, note.start, key=lambda placed: placed.start)
        after = self._placed[index] if index < len(self._placed) else None
        last = self._placed[index - 1] if index else None
        flow = self._flow_around(note.start)
        if flow is not None:
            self._place_in_flow(note, flow, after)
        elif not note.own_line and last is not None:
            self._place_inline(note, last)
        else:
            self._place_on_own_line(note, root, index)

    def _flow_around(self, index: int) -> SopsMapping | SopsSequence | None:
        innermost = None
        for node in self._flows:
            if node.start < index < node.end:
                innermost = node
        return innermost

    def _place_in_flow(
        self, note: SopsComment, flow: SopsMapping | SopsSequence, after: _PlacedItem | None
    ) -> None:
        if after is not None and after.parent is flow:
            _insert_before(flow, after.item, note)
        else:
            flow.items.append(note)

    def _place_inline(self, note: SopsComment, last: _PlacedItem) -> None:
        line = self._text.rfind("\n", 0, note.start) + 1
        for node in self._flows:
            # Behind the bracket that closes a list or mapping: it belongs to what is inside.
            if line <= node.end <= note.start and id(node) in self._parents:
                node.items.insert(0, note)
                return
        _insert_before(last.parent, last.item, note)

    def _place_on_own_line(self, note: SopsComment, root: SopsMapping, index: int) -> None:
        after = self._placed[index] if index < len(self._placed) else None
        last = self._placed[index - 1] if index else None
        if self._belongs_before(note, root, index):
            # What follows in the same stretch of comments cannot go back behind the last key.
            self._before = index
            if after is not None:
                _insert_before(after.parent, after.item, note)
            else:
                root.items.append(note)
            return
        blocks = [placed for placed in self._chain(last) if not placed.parent.flow]
        if _BLANK_AFTER.match(self._text, note.end):
            column = self._column(note)
            blocks = [block for block in blocks if block.parent.column == column] or blocks
        if blocks:
            _insert_after(blocks[0].parent, blocks[0].item, note)
        else:
            root.items.append(note)

    def _belongs_before(self, note: SopsComment, root: SopsMapping, index: int) -> bool:
        if index == 0 or self._before == index:
            return True
        column = self._column(note)
        if index == len(self._placed):
            # The `sops` entry follows, or will follow, in the column of the root.
            return column == root.column
        after, last = self._placed[index], self._placed[index - 1]
        above = {id(placed.item) for placed in self._chain(after)}
        return after.parent.column == column or id(last.item) in above

    def _column(self, note: SopsComment) -> int:
        return note.start - self._text.rfind("\n", 0, note.start) - 1

    def _chain(self, placed: _PlacedItem | None) -> list[_PlacedItem]:
        """Return an item and all its ancestors up to the root."""
        chain: list[_PlacedItem] = []
        while placed is not None:
            chain.append(placed)
            placed = self._parents.get(id(placed.parent))
        return chain


def _insert_before(parent: SopsMapping | SopsSequence, item: object, note: SopsComment) -> None:
    parent.items.insert(_index_of(parent, item), note)


def _insert_after(parent: SopsMapping | SopsSequence, item: object, note: SopsComment) -> None:
    index = _index_of(parent, item) + 1
    while index < len(parent.items) and isinstance(parent.items[index], SopsComment):
        index += 1
    parent.items.insert(index, note)


def _index_of(parent: SopsMapping | SopsSequence, item: object) -> int:
    return next(index for index, sibling in enumerate(parent.items) if sibling is item)


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")


def read_yaml(file: str, text: str) -> ParsedFile:
    """Parse the documents of a YAML file; raises with position and reason."""
    reader = _YamlTreeReader(file, text)
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
    return ParsedFile(file, text, reader.documents)


class _YamlTreeReader:
    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._text = text
        self.documents: list[SopsDocument] = []
        self._open: list[SopsMapping | SopsSequence] = []
        self._keys: list[tuple[str, int] | None] = []
        self._known: list[set[str]] = []
        self._root: SopsMapping | None = None
        self._comments = CommentPlacer(text)

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._start(event, SopsMapping(*_start_and_column(event), flow=bool(event.flow_style)))
        elif isinstance(event, yaml.SequenceStartEvent):
            self._start(event, SopsSequence(*_start_and_column(event), flow=bool(event.flow_style)))
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end(event)
        elif isinstance(event, yaml.AliasEvent):
            fix = "write the value out where it is needed"
            self._refuse(event, f"the alias *{event.anchor}", fix)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._root = None
            self._comments.begin_document(_mark_index(event.end_mark))
        elif isinstance(event, yaml.DocumentEndEvent):
            self._document(event)

    def _document(self, event: yaml.DocumentEndEvent) -> None:
        end = _mark_index(event.start_mark)
        if not event.explicit:
            end = max(end, self._comments.reached)
        root = self._root or SopsMapping(end, 0, flow=False, end=end)
        self._comments.finish_document(root, end)
        self.documents.append(SopsDocument(root, end))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if event.anchor is not None:
            self._refuse(event, f"the anchor &{event.anchor}", "remove it")
        start, end = _mark_index(event.start_mark), _mark_index(event.end_mark)
        block = event.style in ("|", ">")
        if block:
            end = start + len(self._text[start:end].rstrip())
        self._comments.add_scalar(start, end, block=block)
        if self._expects_key:
            self._key(event, start)
            return
        if event.tag is not None and event.tag not in _TEXT_TAGS:
            self._refuse(event, f"the tag {event.tag!r}", "remove it, or quote the value")
        leaf = SopsScalar(self._value(event), start, end)
        if not self._open:
            if leaf.value is not None:
                self._not_a_mapping(event)
            return
        parent = self._open[-1]
        leaf.flow, leaf.column = parent.flow, parent.column
        self._put(leaf, start)

    def _value(self, event: yaml.ScalarEvent) -> SopsValue:
        if event.style not in (None, "") or event.tag is not None:
            return str(event.value)
        try:
            return resolve_scalar(event.value)
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

    def _start(self, event: yaml.CollectionStartEvent, node: SopsMapping | SopsSequence) -> None:
        if event.anchor is not None:
            self._refuse(event, f"the anchor &{event.anchor}", "remove it")
        if event.tag is not None:
            self._refuse(event, f"the tag {event.tag!r}", "remove it")
        if self._open and self._expects_key:
            self._refuse(event, "a mapping or list as key", "use a text as key")
        if not self._open and isinstance(node, SopsSequence):
            self._not_a_mapping(event)
        if len(self._open) >= MAX_DEPTH:
            self._refuse(event, f"nesting of more than {MAX_DEPTH} levels", "flatten it")
        if self._open:
            self._put(node, node.start)
        else:
            self._root = node if isinstance(node, SopsMapping) else None
        self._comments.add_collection(node)
        self._open.append(node)
        self._keys.append(None)
        self._known.append(set())

    def _end(self, event: yaml.CollectionEndEvent) -> None:
        node = self._open.pop()
        self._keys.pop()
        self._known.pop()
        node.end = _mark_index(event.end_mark)
        if node.flow:
            self._comments.end_flow(node.end)

    @property
    def _expects_key(self) -> bool:
        return (
            bool(self._open) and isinstance(self._open[-1], SopsMapping) and self._keys[-1] is None
        )

    def _put(self, node: SopsScalar | SopsMapping | SopsSequence, start: int) -> None:
        parent = self._open[-1]
        if isinstance(parent, SopsSequence):
            parent.items.append(node)
            self._comments.add_entry(start, parent, node)
            return
        pending = self._keys[-1]
        if pending is not None:
            entry = SopsEntry(pending[0], pending[1], node)
            parent.items.append(entry)
            self._keys[-1] = None
            self._comments.add_entry(entry.start, parent, entry)

    def _at(self, event: yaml.Event) -> Position:
        mark: Any = event.start_mark
        return Position(self._file, mark.line + 1, mark.column + 1)

    def _refuse(self, event: yaml.Event, construct: str, fix: str) -> NoReturn:
        raise problems.unsupported(self._at(event), construct, fix)

    def _not_a_mapping(self, event: yaml.Event) -> NoReturn:
        fix = "put it under a key, for example `data:`"
        self._refuse(event, "a document that is one list or one value", fix)


def _start_and_column(event: yaml.CollectionStartEvent) -> tuple[int, int]:
    mark: Any = event.start_mark
    return mark.index, mark.column


def _mark_index(mark: Any) -> int:  # noqa: ANN401  # the C parser has a mark class of its own
    return int(mark.index)
