"""A patch, reading its YAML documents as strictly as Talos does, and errors of patches."""

from __future__ import annotations

from typing import Any, NoReturn, TypeAlias

import yaml

from stockman.config.source.tree import (
    MAX_ALIASED,
    MAX_DEPTH,
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
)
from stockman.model.errors import StockmanError
from stockman.model.origin import Position
from stockman.model.problem import Problem
from stockman.model.record import record


@record
class Patch:
    """One patch: its text and position."""

    label: str
    """The name the user knows: `talos.patches.all[0]`, or its file name."""
    file: str
    text: str
    first_line: int = 1
    """The line of the file where the text starts."""
    first_column: int = 1
    """The column where each of its lines starts."""
    place: Position | None = None
    """None: the text is part of the file. Otherwise the position of all its values."""
    node: TreeNode | None = None
    """The patch if it was parsed before, as one document; the text is ignored then."""


class InvalidValue(Exception):
    """A value of a patch or a configuration that Talos would refuse, without a label yet."""

    def __init__(
        self, *, code: str, what: str, why: str, fix: str, at: Position | None = None
    ) -> None:
        super().__init__(what)
        self.code = code
        self.what = what
        self.why = why
        self.fix = fix
        self.at = at

    def error(self, label: str, at: Position | None) -> PatchRefused:
        """Return the error of the patch with a label, at a position."""
        is_named = at is not None and at.file == label
        return PatchRefused(
            Problem(
                code=self.code,
                what=self.what if is_named else f"{label}: {self.what}",
                where=at or label,
                why=self.why,
                fix=self.fix,
            )
        )


class PatchRefused(StockmanError):
    """A patch is invalid; the problem names its file, line and path."""


def path_text(path: tuple[str | int, ...]) -> str:
    """Return a path as text, `machine.network.interfaces[0]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text or "the document"


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Mark: TypeAlias = Any
"""A position of the parser; the type of the C parser is not exported."""
_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")


def read_documents(
    file: str, text: str, first_line: int = 1, first_column: int = 1
) -> tuple[TreeNode, ...]:
    """Return the documents of a text; one without content is null.

    `first_line` and `first_column` are its position in the file.
    """
    reader = _DocumentReader(file, first_line, first_column)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except yaml.reader.ReaderError as error:
        reader.refuse(None, f"a character that YAML does not allow: {error.reason}")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reader.refuse(mark, " ".join(filter(None, (error.context, error.problem))))
    return tuple(reader.documents)


class _OpenCollection:
    """A mapping or list whose end was not read yet."""

    __slots__ = ("anchor", "key", "node", "size")

    def __init__(self, node: MappingNode | SequenceNode, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.key: ScalarNode | None = None
        self.size = 1


class _DocumentReader:
    def __init__(self, file: str, first_line: int, first_column: int) -> None:
        self.documents: list[TreeNode] = []
        self._file = file
        self._first = first_line
        self._column = first_column
        self._open: list[_OpenCollection] = []
        self._anchors: dict[str, tuple[TreeNode, int]] = {}
        self._aliased = 0

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            plain = not event.style and event.tag not in _TEXT_TAGS
            scalar = ScalarNode(event.value, self._at(event.start_mark), plain=plain, span=(0, 0))
            self._register_anchor(event.anchor, scalar, 1)
            self._add_node(scalar, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            at = self._at(event.start_mark)
            if len(self._open) >= MAX_DEPTH:
                self.refuse(event.start_mark, f"more than {MAX_DEPTH} levels of nesting")
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            self._open.append(
                _OpenCollection(MappingNode(at) if is_mapping else SequenceNode(at), event.anchor)
            )
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = self._open.pop()
            self._register_anchor(closed.anchor, closed.node, closed.size)
            self._add_node(closed.node, closed.size)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._anchors = {}

    def refuse(self, mark: _Mark, why: str) -> NoReturn:
        raise InvalidValue(
            code="patch.unreadable",
            what="this is not YAML that Talos can read",
            why=why or "the parser gives no reason",
            fix="check the quotes, brackets, colons and the indentation here and one line above",
            at=self._at(mark),
        )

    def _at(self, mark: _Mark) -> Position:
        if mark is None:
            return Position(self._file, self._first, self._column)
        return Position(self._file, mark.line + self._first, mark.column + self._column)

    def _register_anchor(self, anchor: str | None, node: TreeNode, size: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (node, size)

    def _alias(self, event: yaml.AliasEvent) -> None:
        known = self._anchors.get(event.anchor or "")
        if known is None:
            self.refuse(event.start_mark, f"the anchor of *{event.anchor} is not defined above")
        node, size = known
        self._aliased += size
        if self._aliased > MAX_ALIASED:
            self.refuse(event.start_mark, f"aliases repeat more than {MAX_ALIASED:,} values")
        self._add_node(node, size)

    def _add_node(self, node: TreeNode, size: int) -> None:
        if not self._open:
            self.documents.append(node)
            return
        parent = self._open[-1]
        parent.size += size
        if isinstance(parent.node, SequenceNode):
            parent.node.items.append(node)
        elif parent.key is None:
            if not isinstance(node, ScalarNode):
                raise _key_error(node.at, "a key must be a scalar")
            parent.key = node
        else:
            key, parent.key = parent.key, None
            if key.text in parent.node.entries:
                raise _key_error(key.at, f"the key {key.text} is defined twice")
            parent.node.entries[key.text] = MappingEntry(key, node)


def _key_error(at: Position, why: str) -> InvalidValue:
    return InvalidValue(
        code="patch.unreadable",
        what="this is not YAML that Talos can read",
        why=why,
        fix="remove one of the two, or quote the text",
        at=at,
    )
