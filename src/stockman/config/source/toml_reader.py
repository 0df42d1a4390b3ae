"""Parse TOML into a tree: `tomllib` validates the text, and a locator finds the positions.

`tomllib` keeps neither positions nor source text. The locator only has to find the ends of values
in a text that is known to be valid.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

from stockman.config.source.tree import (
    MAX_DEPTH,
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    Unreadable,
)
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem

_BLANK = pattern(r"[ \t]*")
_SPACE = pattern(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = pattern(r"[A-Za-z0-9_-]+")
_BARE_VALUE = pattern(r"[^\s,\]}#=]+(?: \d{2}:[^\s,\]}#]*)?")
_QUOTES = pattern(r'"""(?:[^\\]|\\.)*?"{3,5}(?!")|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
_APOSTROPHES = pattern(r"'''.*?'{3,5}(?!')|'[^'\n]*'", re.DOTALL)
_PLACE = pattern(r"\(at (?:line (\d+), column (\d+)|end of document)\)$")
_ENDLESS_NUMBER = pattern(r"[0-9A-Fa-f_xob]{1000,}")
_LONGEST_NUMBER = 300
_SPECIAL = {
    "inf": ".inf",
    "+inf": ".inf",
    "-inf": "-.inf",
    "nan": ".nan",
    "+nan": ".nan",
    "-nan": ".nan",
}
_FRACTION = pattern(r"[+-]?[0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][+-]?[0-9_]+)?")
_NUMBER = pattern(r"[+-]?(?:0[xob][0-9A-Fa-f_]+|[0-9][0-9_]*)")


class _InvalidToml(Exception):
    """The text is not valid TOML; validation reports why."""


def read_toml(file: str, text: str) -> MappingNode:
    """Parse a TOML document; raises `Unreadable` with position and reason."""
    tree: MappingNode | None = None
    try:
        tree = _Locator(file, text).document()
    except _InvalidToml:
        tree = None
    _validate(file, text)
    if tree is None:
        raise AssertionError("the TOML locator lost its way in a valid document")
    return tree


def _validate(file: str, text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(_syntax(file, text, str(error))) from None
    except ValueError:
        raise Unreadable(_endless_number(file, text)) from None
    except RecursionError:
        raise Unreadable(_too_deep(Position(file, 1, 1))) from None


def _too_deep(at: Position) -> Problem:
    return Problem(
        code="toml.too-deep",
        what="the nesting is too deep here",
        where=at,
        why=f"more than {MAX_DEPTH} levels; no configuration needs that",
        fix="remove the brackets or dots that were not meant",
    )


def _endless_number(file: str, text: str) -> Problem:
    match = _ENDLESS_NUMBER.search(text)
    start = match.start() if match is not None else 0
    return Problem(
        code="toml.number",
        what="a number is too long to be meant",
        where=Position(file, text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)),
        why="it has thousands of digits",
        fix="write the number that was meant, or quote it if it is a text",
    )


def _syntax(file: str, text: str, reason: str) -> Problem:
    match = _PLACE.search(reason)
    if match is not None and match[1]:
        at = Position(file, int(match[1]), int(match[2]))
    else:
        lines = text.split("\n")
        at = Position(file, len(lines), len(lines[-1]) + 1)
    message = _PLACE.sub("", reason).strip()
    if message.startswith(("Cannot overwrite", "Cannot declare")):
        return Problem(
            code="toml.duplicate-key",
            what="a key or table is given twice",
            where=at,
            why=f"{message}; one of the two would be lost",
            fix="keep one of them",
        )
    return Problem(
        code="toml.syntax",
        what="this line cannot be read as TOML",
        where=at,
        why=message,
        fix="quote texts, write `key = value`, close every bracket",
    )


class _Locator:
    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._source = text
        self._text = text.replace("\r\n", " \n")
        self._starts = [0, *(match.end() for match in re.finditer("\n", self._text))]
        self._index = 0
        self._root = MappingNode(Position(file, 1, 1))

    def document(self) -> MappingNode:
        table = self._root
        while True:
            self._skip(_SPACE)
            if self._index >= len(self._text):
                return self._root
            if self._ahead("[["):
                table = self._header(2)
            elif self._ahead("["):
                table = self._header(1)
            else:
                self._pair(table, 0)
                self._skip(_BLANK)
                if self._index < len(self._text) and self._text[self._index] not in "\n#":
                    raise _InvalidToml

    def _header(self, brackets: int) -> MappingNode:
        start = self._place(self._index)
        self._index += brackets
        keys = self._keys()
        if not self._ahead("]" * brackets):
            raise _InvalidToml
        self._index += brackets
        parent = self._descend(self._root, keys[:-1])
        last = keys[-1]
        known = parent.entries.get(last.text)
        if brackets == 1:
            if known is None:
                known = MappingEntry(last, MappingNode(start))
                parent.entries[last.text] = known
            return self._table(known.value)
        if known is None:
            known = MappingEntry(last, SequenceNode(start))
            parent.entries[last.text] = known
        if not isinstance(known.value, SequenceNode):
            raise _InvalidToml
        table = MappingNode(start)
        known.value.items.append(table)
        return table

    def _descend(self, table: MappingNode, keys: list[ScalarNode]) -> MappingNode:
        for key in keys:
            entry = table.entries.get(key.text)
            if entry is None:
                entry = MappingEntry(key, MappingNode(key.at))
                table.entries[key.text] = entry
            table = self._table(entry.value)
        return table

    def _table(self, node: TreeNode) -> MappingNode:
        if isinstance(node, SequenceNode) and node.items:
            node = node.items[-1]
        if not isinstance(node, MappingNode):
            raise _InvalidToml
        return node

    def _pair(self, table: MappingNode, depth: int) -> None:
        keys = self._keys()
        if not self._ahead("="):
            raise _InvalidToml
        self._index += 1
        self._skip(_BLANK)
        value = self._value(depth)
        parent = self._descend(table, keys[:-1])
        if keys[-1].text in parent.entries:
            raise _InvalidToml
        parent.entries[keys[-1].text] = MappingEntry(keys[-1], value)

    def _keys(self) -> list[ScalarNode]:
        keys: list[ScalarNode] = []
        while True:
            self._skip(_BLANK)
            keys.append(self._string() if self._ahead('"', "'") else self._bare_key())
            if len(keys) > MAX_DEPTH:
                raise Unreadable(_too_deep(keys[-1].at))
            self._skip(_BLANK)
            if not self._ahead("."):
                return keys
            self._index += 1

    def _bare_key(self) -> ScalarNode:
        match = _BARE_KEY.match(self._text, self._index)
        if match is None:
            raise _InvalidToml
        return self._scalar(match[0], match.span(), plain=True)

    def _value(self, depth: int) -> TreeNode:
        if depth > MAX_DEPTH:
            raise Unreadable(_too_deep(self._place(self._index)))
        if self._ahead('"', "'"):
            return self._string()
        if self._ahead("["):
            return self._array(depth)
        if self._ahead("{"):
            return self._inline(depth)
        match = _BARE_VALUE.match(self._text, self._index)
        if match is None:
            raise _InvalidToml
        return self._scalar(_normalize_number(match[0]), match.span(), plain=True)

    def _array(self, depth: int) -> SequenceNode:
        sequence = SequenceNode(self._place(self._index))
        self._index += 1
        while True:
            self._skip(_SPACE)
            if self._ahead("]"):
                self._index += 1
                return sequence
            sequence.items.append(self._value(depth + 1))
            self._skip(_SPACE)
            if self._ahead(","):
                self._index += 1
            elif not self._ahead("]"):
                raise _InvalidToml

    def _inline(self, depth: int) -> MappingNode:
        mapping = MappingNode(self._place(self._index))
        self._index += 1
        while True:
            self._skip(_SPACE)
            if self._ahead("}"):
                self._index += 1
                return mapping
            self._pair(mapping, depth + 1)
            self._skip(_SPACE)
            if self._ahead(","):
                self._index += 1
            elif not self._ahead("}"):
                raise _InvalidToml

    def _string(self) -> ScalarNode:
        quotes = _QUOTES if self._ahead('"') else _APOSTROPHES
        match = quotes.match(self._text, self._index)
        if match is None:
            raise _InvalidToml
        raw = self._source[slice(*match.span())]
        if raw.startswith(("'''", '"""')) or "\\" in raw:
            try:
                text = str(tomllib.loads(f"x = {raw}")["x"])
            except tomllib.TOMLDecodeError:
                raise _InvalidToml from None
        else:
            text = raw[1:-1]
        return self._scalar(text, match.span(), plain=False)

    def _scalar(self, text: str, span: tuple[int, int], *, plain: bool) -> ScalarNode:
        scalar = ScalarNode(text, self._place(span[0]), plain=plain, span=span)
        self._index = span[1]
        return scalar

    def _skip(self, expression: re.Pattern[str]) -> None:
        match = expression.match(self._text, self._index)
        if match is not None:
            self._index = match.end()

    def _ahead(self, *texts: str) -> bool:
        return self._text.startswith(texts, self._index)

    def _place(self, index: int) -> Position:
        line = bisect_right(self._starts, index)
        return Position(self._file, line, index - self._starts[line - 1] + 1)


def _normalize_number(text: str) -> str:
    """Return a number in the form of other readers, without underscores, bases and special
    names."""
    if text in _SPECIAL:
        return _SPECIAL[text]
    if len(text) >= _LONGEST_NUMBER or ("_" not in text and text[:2] not in ("0x", "0o", "0b")):
        return text
    if _NUMBER.fullmatch(text):
        return str(int(text, 0))
    return text.replace("_", "") if _FRACTION.fullmatch(text) else text
