"""Values of Terraform files: literals are read, everything else is stepped over.

An expression (a function, a reference, a text with `${...}`) has no value without Terraform: it
stands in the tree as null, and its place is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from stockman.config.convert.hcl_text import BLANK, SPACE, HclText
from stockman.config.source.tree import Entry, Mapping, Node, Scalar, Sequence
from stockman.model.origin import Position
from stockman.model.record import record

_WORD = re.compile(r"[^\W\d][\w-]*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_LITERAL = re.compile(r"(?:true|false|null)(?![\w.-])")
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([nrt"\\]))')
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_TEMPLATE = re.compile(r"(?<![$%])(?:\$\$|%%)*[$%]\{")
_COMPUTED = re.compile(r"[\[{]\s*for\b")
_LAST_CHARACTER = 0x10FFFF
_NO_CHARACTER = "\ufffd"


@record
class Block:
    """A block such as `variable "name" { ... }`."""

    kind: str
    labels: tuple[str, ...]
    body: Body
    at: Position


@record
class Body:
    """Attributes and blocks between braces, or of the whole file."""

    attributes: Mapping
    blocks: list[Block] = field(default_factory=list)

    def of_kind(self, kind: str) -> Iterator[Block]:
        """The blocks that start with a word."""
        return (block for block in self.blocks if block.kind == kind)


@record
class HclFile:
    """A file that was read."""

    body: Body
    expressions: frozenset[Position]
    """Where expressions stand; the tree has null there."""


def read_hcl(file: str, text: str) -> HclFile:
    """The values of a file; raises `Unreadable` with the place and reason."""
    reader = _Reader(HclText(file, text))
    body = reader.body("")
    return HclFile(body=body, expressions=frozenset(reader.expressions))


class _Reader:
    def __init__(self, source: HclText) -> None:
        self._source = source
        self._depth = 0
        self.expressions: set[Position] = set()

    def body(self, end: str) -> Body:
        """What stands before `end`; empty for the end of the file."""
        source = self._source
        body = Body(attributes=Mapping(source.at(source.index)))
        while True:
            source.skip(SPACE)
            if source.at_end:
                if end:
                    source.refuse("the file ends inside of a block", "close it with `}`")
                return body
            if end and source.ahead(end):
                source.index += 1
                return body
            self._statement(body)

    def _statement(self, body: Body) -> None:
        source = self._source
        word = self._word()
        source.skip(BLANK)
        if source.ahead("=") and not source.ahead("=="):
            source.index += 1
            body.attributes.entries[word.text] = Entry(word, self._value("\n}"))
            return
        labels = []
        while not source.ahead("{"):
            labels.append(self._string().text if source.ahead('"') else self._word().text)
            source.skip(BLANK)
        source.index += 1
        self._deeper(1)
        inner = self.body("}")
        self._deeper(-1)
        body.blocks.append(Block(kind=word.text, labels=tuple(labels), body=inner, at=word.at))

    def _deeper(self, step: int) -> None:
        self._depth += step
        self._source.check_depth(self._depth)

    def _word(self) -> Scalar:
        found = _WORD.match(self._source.text, self._source.index)
        if found is None:
            self._source.refuse("a name is needed here", "write `name = value` or a block")
        return self._plain(found)

    def _value(self, ends: str) -> Node:
        """A literal; null for an expression, which is listed. `ends` says what comes after it."""
        source = self._source
        source.skip(SPACE)
        start = source.index
        node = self._literal()
        if node is not None and self._ended(ends):
            return node
        source.index = start
        source.pass_expression(ends)
        if source.index == start:
            source.refuse("a value is needed here", "write a value behind the `=`")
        at = source.at(start)
        self.expressions.add(at)
        return Scalar("null", at, plain=True, span=(start, source.index))

    def _ended(self, ends: str) -> bool:
        self._source.skip(BLANK if "\n" in ends else SPACE)
        return self._source.at_end or self._source.ahead("#", "//", "\r\n", *ends)

    def _literal(self) -> Node | None:
        source = self._source
        if source.ahead('"'):
            start = source.index
            string = self._string()
            raw = source.text[start : source.index]
            return None if _TEMPLATE.search(raw) else string
        if source.ahead("<<"):
            return self._heredoc()
        if source.ahead("[", "{") and not _COMPUTED.match(source.text, source.index):
            self._deeper(1)
            node = self._list() if source.ahead("[") else self._object()
            self._deeper(-1)
            return node
        for pattern in (_NUMBER, _LITERAL):
            found = pattern.match(source.text, source.index)
            if found is not None:
                return self._plain(found)
        return None

    def _list(self) -> Sequence:
        source = self._source
        sequence = Sequence(source.at(source.index))
        source.index += 1
        while not self._closed("]"):
            sequence.items.append(self._value(",]"))
            source.skip(SPACE)
            if source.ahead(","):
                source.index += 1
            elif not source.ahead("]"):
                source.refuse("the list does not go on here", "write `,` or `]`")
        return sequence

    def _object(self) -> Mapping:
        source = self._source
        mapping = Mapping(source.at(source.index))
        source.index += 1
        while not self._closed("}"):
            key = self._object_key()
            source.skip(SPACE)
            if not source.ahead("=", ":"):
                source.refuse("a key without a value stands here", "write `key = value`")
            source.index += 1
            value = self._value("\n,}")
            if key is not None:
                mapping.entries[key.text] = Entry(key, value)
            source.skip(BLANK)
            if source.ahead(","):
                source.index += 1
        return mapping

    def _object_key(self) -> Scalar | None:
        """A key; None for one that has to be computed, which is listed."""
        source = self._source
        if source.ahead("("):
            self.expressions.add(source.at(source.index))
            source.pass_expression("=:")
            return None
        if source.ahead('"'):
            return self._string()
        number = _NUMBER.match(source.text, source.index)
        return self._word() if number is None else self._plain(number)

    def _closed(self, bracket: str) -> bool:
        source = self._source
        source.skip(SPACE)
        if source.at_end:
            source.refuse("the file ends inside of brackets", f"close them with `{bracket}`")
        found = source.ahead(bracket)
        source.index += found
        return found

    def _string(self) -> Scalar:
        start = self._source.index
        text = _ESCAPE.sub(_unescaped, self._source.pass_string())
        return self._text(text, start)

    def _heredoc(self) -> Scalar | None:
        start = self._source.index
        text = self._source.pass_heredoc()
        return None if _TEMPLATE.search(text) else self._text(text, start)

    def _text(self, text: str, start: int) -> Scalar:
        literal = text.replace("$${", "${").replace("%%{", "%{")
        span = (start, self._source.index)
        return Scalar(literal, self._source.at(start), plain=False, span=span)

    def _plain(self, found: re.Match[str]) -> Scalar:
        self._source.index = found.end()
        return Scalar(found[0], self._source.at(found.start()), plain=True, span=found.span())


def _unescaped(found: re.Match[str]) -> str:
    digits = found[1] or found[2]
    if not digits:
        return _ESCAPED[found[3]]
    code = int(digits, 16)
    if code > _LAST_CHARACTER or 0xD800 <= code <= 0xDFFF:
        return _NO_CHARACTER
    return chr(code)
