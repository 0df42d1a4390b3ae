"""Parse literal values of Terraform (HCL) files, and skip everything else.

An expression (a function, a reference, a text with `${...}`) has no value without Terraform: it is
represented by null, and its position is recorded.
"""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import field
from typing import NoReturn

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
from stockman.model.record import record

BLANK = pattern(r"(?:[ \t]|/\*.*?\*/)*", re.DOTALL)
"""Whitespace and comments between two tokens on one line."""
SPACE = pattern(r"(?:\s|#[^\n]*|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
"""Whitespace and comments between two tokens."""
HEREDOC = pattern(r"<<(?P<dedent>-?)(?P<name>[^\W\d][\w-]*)[ \t]*\r?\n")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class _HclText:
    """The text of a file and the current position."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.text = text
        self.index = 0

    @property
    def at_end(self) -> bool:
        return self.index >= len(self.text)

    def starts_with(self, *texts: str) -> bool:
        """Return whether one of the texts is next."""
        return self.text.startswith(texts, self.index)

    def skip(self, pattern: re.Pattern[str]) -> None:
        """Skip a pattern."""
        match = pattern.match(self.text, self.index)
        if match is not None:
            self.index = match.end()

    def position_of(self, index: int) -> Position:
        """Return the position of a character."""
        line = bisect_right(self._starts, index)
        return Position(self._file, line, index - self._starts[line - 1] + 1)

    def fail(self, why: str, fix: str) -> NoReturn:
        """Report a syntax error at the current position."""
        raise Unreadable(
            Problem(
                code="hcl.syntax",
                what="this line cannot be read as HCL",
                where=self.position_of(min(self.index, len(self.text))),
                why=why,
                fix=fix,
            )
        )

    def check_depth(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            self.fail(f"more than {MAX_DEPTH} levels are nested here", "nest less")

    def skip_expression(self, ends: str) -> None:
        """Skip an expression, up to one of the given characters outside of all brackets."""
        brackets: list[str] = []
        while not self.at_end:
            character = self.text[self.index]
            if not brackets and character in ends:
                return
            if character == '"':
                self.read_string()
            elif self.starts_with("<<"):
                self.read_heredoc()
            elif self.starts_with("#", "//", "/*"):
                if not brackets and "\n" in ends and not self.starts_with("/*"):
                    return
                start = self.index
                self.skip(SPACE)
                if self.index == start:
                    self.fail("a comment does not end", "end it with `*/`")
            else:
                self._track(character, brackets)
                self.index += 1
        if brackets:
            self.fail("the file ends inside of brackets", f"close them with `{brackets[-1]}`")

    def _track(self, character: str, brackets: list[str]) -> None:
        if character in _CLOSING:
            brackets.append(_CLOSING[character])
            self.check_depth(len(brackets))
        elif brackets and character == brackets[-1]:
            brackets.pop()

    def read_string(self) -> str:
        """Return the content of a quoted text, including escapes.

        Quotes inside `${...}` belong to the expression.
        """
        start = self.index
        braces = [0]  # of every text and expression that is open; texts are the odd ones
        self.index += 1
        while braces:
            in_text = len(braces) % 2 == 1
            character = self.text[self.index : self.index + 1]
            if not character or (in_text and character == "\n"):
                self.fail("a quoted text does not end", 'end it with `"` on the same line')
            if in_text and character == "\\":
                self.index += 1
            elif in_text and self._starts_expression():
                braces.append(1)
                self.index += 1
            elif character == '"' and not in_text:
                braces.append(0)
            elif character == '"' or (not in_text and self._closes(character, braces)):
                braces.pop()
            self.index += 1
            self.check_depth(len(braces))
        return self.text[start + 1 : self.index - 1]

    def _starts_expression(self) -> bool:
        doubled = self.text[self.index - 1] == self.text[self.index]
        return self.starts_with("${", "%{") and not doubled

    def _closes(self, character: str, braces: list[int]) -> bool:
        braces[-1] += {"{": 1, "}": -1}.get(character, 0)
        return braces[-1] == 0

    def read_heredoc(self) -> str:
        """Return the lines of a heredoc, without their common indentation if requested."""
        opening = HEREDOC.match(self.text, self.index)
        if opening is None:
            self.fail("a heredoc has no name", "write `<<EOT` and a new line")
        name = opening["name"]
        closing = re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*\r?$", re.MULTILINE)
        end = closing.search(self.text, opening.end())
        if end is None:
            self.fail(f"the heredoc {name} does not end", f"end it with {name} on its own line")
        self.index = end.end()
        lines = self.text[opening.end() : end.start()]
        return textwrap.dedent(lines) if opening["dedent"] else lines


_WORD = pattern(r"[^\W\d][\w-]*")
_NUMBER = pattern(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_LITERAL = pattern(r"(?:true|false|null)(?![\w.-])")
_ESCAPE = pattern(r'\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([nrt"\\]))')
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_TEMPLATE = pattern(r"(?<![$%])(?:\$\$|%%)*[$%]\{")
_COMPUTED = pattern(r"[\[{]\s*for\b")
_LAST_CHARACTER = 0x10FFFF
_NO_CHARACTER = "\ufffd"


@record
class HclBlock:
    """A block such as `variable "name" { ... }`."""

    kind: str
    labels: tuple[str, ...]
    body: HclBody
    at: Position


@record
class HclBody:
    """Attributes and blocks of a block or file."""

    attributes: MappingNode
    blocks: list[HclBlock] = field(default_factory=list)

    def blocks_of_kind(self, kind: str) -> Iterator[HclBlock]:
        """Return the blocks of a kind."""
        return (block for block in self.blocks if block.kind == kind)


@record
class HclFile:
    """A parsed file."""

    body: HclBody
    expressions: frozenset[Position]
    """Positions of expressions; the tree has null there."""


def read_hcl(file: str, text: str) -> HclFile:
    """Parse a file; raises `Unreadable` with position and reason."""
    reader = _HclReader(file, text)
    body = reader.body("")
    return HclFile(body=body, expressions=frozenset(reader.expressions))


class _HclReader(_HclText):
    def __init__(self, file: str, text: str) -> None:
        super().__init__(file, text)
        self._depth = 0
        self.expressions: set[Position] = set()

    def body(self, end: str) -> HclBody:
        """Read up to `end`; empty: the end of the file."""
        body = HclBody(attributes=MappingNode(self.position_of(self.index)))
        while True:
            self.skip(SPACE)
            if self.at_end:
                if end:
                    self.fail("the file ends inside of a block", "close it with `}`")
                return body
            if end and self.starts_with(end):
                self.index += 1
                return body
            self._statement(body)

    def _statement(self, body: HclBody) -> None:
        name = self._word()
        self.skip(BLANK)
        if self.starts_with("=") and not self.starts_with("=="):
            self.index += 1
            body.attributes.entries[name.text] = MappingEntry(name, self._value("\n}"))
            return
        labels = []
        while not self.starts_with("{"):
            labels.append(self._string().text if self.starts_with('"') else self._word().text)
            self.skip(BLANK)
        self.index += 1
        self._change_depth(1)
        inner = self.body("}")
        self._change_depth(-1)
        body.blocks.append(HclBlock(kind=name.text, labels=tuple(labels), body=inner, at=name.at))

    def _change_depth(self, step: int) -> None:
        self._depth += step
        self.check_depth(self._depth)

    def _word(self) -> ScalarNode:
        match = _WORD.match(self.text, self.index)
        if match is None:
            self.fail("a name is needed here", "write `name = value` or a block")
        return self._plain(match)

    def _value(self, ends: str) -> TreeNode:
        """Read a literal, or null for an expression, which is recorded. `ends` are the
        terminators."""
        self.skip(SPACE)
        start = self.index
        node = self._literal()
        if node is not None and self._at_value_end(ends):
            return node
        self.index = start
        self.skip_expression(ends)
        if self.index == start:
            self.fail("a value is needed here", "write a value behind the `=`")
        at = self.position_of(start)
        self.expressions.add(at)
        return ScalarNode("null", at, plain=True, span=(start, self.index))

    def _at_value_end(self, ends: str) -> bool:
        self.skip(BLANK if "\n" in ends else SPACE)
        return self.at_end or self.starts_with("#", "//", "\r\n", *ends)

    def _literal(self) -> TreeNode | None:
        if self.starts_with('"'):
            start = self.index
            string = self._string()
            raw = self.text[start : self.index]
            return None if _TEMPLATE.search(raw) else string
        if self.starts_with("<<"):
            return self._heredoc()
        if self.starts_with("[", "{") and not _COMPUTED.match(self.text, self.index):
            self._change_depth(1)
            node = self._list() if self.starts_with("[") else self._object()
            self._change_depth(-1)
            return node
        for literal in (_NUMBER, _LITERAL):
            match = literal.match(self.text, self.index)
            if match is not None:
                return self._plain(match)
        return None

    def _list(self) -> SequenceNode:
        sequence = SequenceNode(self.position_of(self.index))
        self.index += 1
        while not self._skip_closing("]"):
            sequence.items.append(self._value(",]"))
            self.skip(SPACE)
            if self.starts_with(","):
                self.index += 1
            elif not self.starts_with("]"):
                self.fail("the list does not go on here", "write `,` or `]`")
        return sequence

    def _object(self) -> MappingNode:
        mapping = MappingNode(self.position_of(self.index))
        self.index += 1
        while not self._skip_closing("}"):
            key = self._object_key()
            self.skip(SPACE)
            if not self.starts_with("=", ":"):
                self.fail("a key without a value stands here", "write `key = value`")
            self.index += 1
            value = self._value("\n,}")
            if key is not None:
                mapping.entries[key.text] = MappingEntry(key, value)
            self.skip(BLANK)
            if self.starts_with(","):
                self.index += 1
        return mapping

    def _object_key(self) -> ScalarNode | None:
        """Read a key; None: a computed key, which is recorded."""
        if self.starts_with("("):
            self.expressions.add(self.position_of(self.index))
            self.skip_expression("=:")
            return None
        if self.starts_with('"'):
            return self._string()
        number = _NUMBER.match(self.text, self.index)
        return self._word() if number is None else self._plain(number)

    def _skip_closing(self, bracket: str) -> bool:
        self.skip(SPACE)
        if self.at_end:
            self.fail("the file ends inside of brackets", f"close them with `{bracket}`")
        is_closed = self.starts_with(bracket)
        self.index += is_closed
        return is_closed

    def _string(self) -> ScalarNode:
        start = self.index
        text = _ESCAPE.sub(_unescape, self.read_string())
        return self._text(text, start)

    def _heredoc(self) -> ScalarNode | None:
        start = self.index
        text = self.read_heredoc()
        return None if _TEMPLATE.search(text) else self._text(text, start)

    def _text(self, text: str, start: int) -> ScalarNode:
        literal = text.replace("$${", "${").replace("%%{", "%{")
        span = (start, self.index)
        return ScalarNode(literal, self.position_of(start), plain=False, span=span)

    def _plain(self, match: re.Match[str]) -> ScalarNode:
        self.index = match.end()
        return ScalarNode(match[0], self.position_of(match.start()), plain=True, span=match.span())


def _unescape(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    if not digits:
        return _ESCAPED[match[3]]
    code = int(digits, 16)
    if code > _LAST_CHARACTER or 0xD800 <= code <= 0xDFFF:
        return _NO_CHARACTER
    return chr(code)
