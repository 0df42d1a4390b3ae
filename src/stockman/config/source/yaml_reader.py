"""Parse YAML into a tree. Only parser events are used: the key determines the type, not YAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import yaml

from stockman.config.source.tree import (
    MAX_ALIASED,
    MAX_DEPTH,
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    Unreadable,
)
from stockman.model.origin import Position
from stockman.model.problem import Problem

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STANDARD_TAG = "tag:yaml.org,2002:"
_MERGE = "<<"


def read_yaml(file: str, text: str) -> MappingNode:
    """Parse a YAML document; raises `Unreadable` with position and reason."""
    reader = _YamlReader(file)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except yaml.reader.ReaderError:
        raise Unreadable(_character_problem(file, text)) from None
    except yaml.MarkedYAMLError as error:
        raise Unreadable(_syntax(file, text, error)) from None
    return reader.document()


class _OpenCollection:
    """A mapping or sequence that is not closed yet."""

    __slots__ = ("anchor", "key", "node", "size")

    def __init__(self, node: MappingNode | SequenceNode, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.key: ScalarNode | None = None
        self.size = 1


class _YamlReader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._open: list[_OpenCollection] = []
        self._root: TreeNode | None = None
        self._documents = 0
        self._anchors: dict[str, tuple[TreeNode, int]] = {}
        self._unfinished: set[str] = set()
        self._aliased = 0

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._start(MappingNode(self._at(event)), event)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._start(SequenceNode(self._at(event)), event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._refuse(
                    event,
                    "yaml.many-documents",
                    "a second document starts here",
                    why="a configuration file is one document; what follows `---` would be lost",
                    fix="remove the `---` line, or move what follows into its own file",
                )

    def document(self) -> MappingNode:
        root = self._root
        if root is None or (isinstance(root, ScalarNode) and root.is_null):
            return MappingNode(Position(self._file, 1, 1))
        if isinstance(root, MappingNode):
            return root
        raise Unreadable(
            Problem(
                code="config.not-a-mapping",
                what=f"{self._file} contains no keys",
                where=root.at,
                why="the file is one list or one text; `key: value` lines are needed",
                fix="write the keys that `stockman explain` lists",
            )
        )

    def _at(self, event: yaml.Event) -> Position:
        mark = event.start_mark
        if mark is None:
            return Position(self._file, 1, 1)
        return Position(self._file, mark.line + 1, mark.column + 1)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if event.tag is not None and event.tag != "!":
            self._check_tag(event)
        plain = event.style is None or event.style == ""
        if event.tag is not None and (event.tag == "!" or event.tag == _STANDARD_TAG + "str"):
            plain = False
        scalar = ScalarNode(
            event.value,
            self._at(event),
            plain=plain,
            span=_span(event),
        )
        if event.anchor is not None:
            self._anchors[event.anchor] = (scalar, 1)
        self._place(scalar, 1)

    def _start(self, node: MappingNode | SequenceNode, event: yaml.CollectionStartEvent) -> None:
        if event.tag is not None:
            self._check_tag(event)
        if len(self._open) >= MAX_DEPTH:
            self._refuse(
                event,
                "yaml.too-deep",
                "the nesting is too deep here",
                why=f"more than {MAX_DEPTH} levels; no configuration needs that",
                fix="remove the brackets or the indentation that was not meant",
            )
        if self._expects_key:
            raise Unreadable(_not_a_key(self._at(event)))
        self._open.append(_OpenCollection(node, event.anchor))
        if event.anchor is not None:
            self._unfinished.add(event.anchor)

    def _end(self) -> None:
        closed = self._open.pop()
        if closed.anchor is not None:
            self._unfinished.discard(closed.anchor)
            self._anchors[closed.anchor] = (closed.node, closed.size)
        self._place(closed.node, closed.size)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor in self._unfinished:
            self._refuse(
                event,
                "yaml.recursive-alias",
                f"*{event.anchor} stands inside of what it repeats",
                why="it would be endless",
                fix=f"remove *{event.anchor} here",
            )
        known = self._anchors.get(event.anchor or "")
        if known is None:
            self._refuse(
                event,
                "yaml.unknown-anchor",
                f"*{event.anchor} repeats something that does not exist",
                why=f"no &{event.anchor} is defined above this line",
                fix="quote the text if the `*` belongs to it; otherwise define the anchor first",
            )
        node, size = known
        if self._expects_key and not isinstance(node, ScalarNode):
            raise Unreadable(_not_a_key(self._at(event)))
        self._aliased += size
        if self._aliased > MAX_ALIASED:
            self._refuse(
                event,
                "yaml.alias-bomb",
                "aliases blow this file up",
                why=f"expanded, it would contain more than {MAX_ALIASED:,} repeated values",
                fix="write the values where they are needed, or use node classes",
            )
        self._place(node, size)

    def _place(self, node: TreeNode, size: int) -> None:
        if not self._open:
            self._root = node
            return
        parent = self._open[-1]
        parent.size += size
        if isinstance(parent.node, SequenceNode):
            parent.node.items.append(node)
        elif parent.key is None:
            if not isinstance(node, ScalarNode):
                raise Unreadable(_not_a_key(node.at))
            parent.key = node
        else:
            self._entry(parent.node, parent.key, node)
            parent.key = None

    @property
    def _expects_key(self) -> bool:
        return (
            bool(self._open)
            and isinstance(self._open[-1].node, MappingNode)
            and self._open[-1].key is None
        )

    def _entry(self, mapping: MappingNode, key: ScalarNode, value: TreeNode) -> None:
        if key.plain and key.text == _MERGE:
            self._merge(mapping, value)
            return
        earlier = mapping.entries.get(key.text)
        if earlier is not None and not earlier.via:
            raise Unreadable(
                Problem(
                    code="yaml.duplicate-key",
                    what=f"{key.text} is given twice",
                    where=key.at,
                    why=f"it is already set in line {earlier.key.at.line}; one value would be lost",
                    fix=f"keep one {key.text}",
                )
            )
        mapping.entries[key.text] = MappingEntry(key, value)

    def _merge(self, mapping: MappingNode, value: TreeNode) -> None:
        sources = value.items if isinstance(value, SequenceNode) else [value]
        for source in sources:
            if not isinstance(source, MappingNode):
                raise Unreadable(
                    Problem(
                        code="yaml.merge",
                        what="`<<` does not name a mapping",
                        where=value.at,
                        why="only the keys of a mapping can be merged into another",
                        fix="write `<<: *name` with an anchor of a mapping",
                    )
                )
            for name, entry in source.entries.items():
                if name not in mapping.entries:
                    mapping.entries[name] = MappingEntry(entry.key, entry.value, via=_MERGE)

    def _check_tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.tag is None or event.tag == "!" or event.tag.startswith(_STANDARD_TAG):
            return
        self._refuse(
            event,
            "yaml.tag",
            f"the tag {event.tag} is not known here",
            why="values have the type of their key; tags of other programs mean nothing",
            fix="remove the tag",
        )

    def _refuse(
        self, event: yaml.Event, code: str, summary: str, *, why: str, fix: str
    ) -> NoReturn:
        raise Unreadable(Problem(code=code, what=summary, where=self._at(event), why=why, fix=fix))


def _span(event: yaml.Event) -> tuple[int, int]:
    start, end = event.start_mark, event.end_mark
    return (0, 0) if start is None or end is None else (start.index, end.index)


def _not_a_key(at: Position) -> Problem:
    return Problem(
        code="yaml.key",
        what="expected a key, got a list or mapping",
        where=at,
        why="keys are words",
        fix="quote the text if it starts with `[` or `{`; otherwise give the line a key",
    )


def _character_problem(file: str, text: str) -> Problem:
    index = _find_bad_character(text)
    line = text.count("\n", 0, index) + 1
    column = index - text.rfind("\n", 0, index)
    character = text[index] if index < len(text) else "\0"
    return Problem(
        code="yaml.character",
        what="the file contains a control character",
        where=Position(file, line, column),
        why=f"U+{ord(character):04X} is not allowed in YAML",
        fix="delete it",
    )


def _find_bad_character(text: str) -> int:
    match = yaml.reader.Reader.NON_PRINTABLE.search(text)
    return match.start() if match is not None else 0


def _syntax(file: str, text: str, error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    line = mark.line if mark is not None else 0
    column = mark.column if mark is not None else 0
    lines = text.split("\n")
    source = lines[line] if line < len(lines) else ""
    at = Position(file, line + 1, column + 1)
    tab = _tab_in_indentation(source, column)
    if tab is not None:
        return Problem(
            code="yaml.tab",
            what="YAML does not allow tabs for indentation",
            where=Position(file, line + 1, tab + 1),
            why="indentation is counted in spaces; a tab has no defined width",
            fix="replace the tab by spaces",
        )
    reason = " ".join(reason_part for reason_part in (error.context, error.problem) if reason_part)
    return Problem(
        code="yaml.syntax",
        what="this line cannot be read as YAML",
        where=at,
        why=reason or "the parser gives no reason",
        fix="check the quotes, brackets, colons and the indentation here and one line above",
    )


def _tab_in_indentation(line: str, column: int) -> int | None:
    indentation = line[: len(line) - len(line.lstrip(" \t"))]
    if "\t" in indentation:
        return indentation.index("\t")
    return column if column < len(line) and line[column] == "\t" else None


def scan_tokens(text: str) -> Iterator[Any]:
    """Yield the tokens of the scanner, to find the gaps between values (comments)."""
    yield from yaml.scan(text, Loader=_LOADER)
