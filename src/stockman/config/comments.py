"""Find comments in a text: a `#` outside of values."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode
from stockman.config.source.yaml_reader import scan_tokens
from stockman.config.writers.yaml_writer import Commented
from stockman.model.origin import Position
from stockman.model.pattern import pattern

_YAML_LINE_END = pattern("\r\n|[\r\n\x85\u2028\u2029]")
_TOML_LINE_END = pattern("\n")
_YAML_COMMENT = pattern("#[^\r\n\x85\u2028\u2029]*")
_BLOCK_HEADER = pattern(r"[|>][-+0-9]*[ \t]+(#[^\r\n\x85\u2028\u2029]*)")
_TOML_TOKEN = pattern(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|(?P<comment>#[^\n]*)",
    re.DOTALL,
)


class Comment(NamedTuple):
    """A comment; line and column count from 1."""

    text: str
    """Text without `#`; a space if it is empty."""
    line: int
    column: int
    on_own_line: bool
    """Whether nothing else is on its line."""


class CommentedText(NamedTuple):
    """A text split into lines, and its comments in order."""

    lines: list[str]
    comments: list[Comment]


def find_yaml_comments(text: str) -> CommentedText:
    """Find the comments of a valid YAML text: what the scanner skips between tokens."""
    return _build_commented_text(text, list(_yaml_spans(text)), _YAML_LINE_END)


def find_toml_comments(text: str) -> CommentedText:
    """Find the comments of a valid TOML text: a `#` outside of quotes."""
    spans = [
        match.span("comment")
        for match in _TOML_TOKEN.finditer(text)
        if match["comment"] is not None
    ]
    return _build_commented_text(text, spans, _TOML_LINE_END)


def _yaml_spans(text: str) -> Iterator[tuple[int, int]]:
    end = 0
    for token in scan_tokens(text):
        start = token.start_mark.index
        if start > end:
            yield from _comments_between(text, end, start)
        header = _BLOCK_HEADER.match(text, start) if text[start : start + 1] in ("|", ">") else None
        if header is not None:
            yield header.span(1)
        end = max(end, token.end_mark.index)
    yield from _comments_between(text, end, len(text))


def _comments_between(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in _YAML_COMMENT.finditer(text, start, end):
        yield match.span()


def _build_commented_text(
    text: str, spans: list[tuple[int, int]], line_end: re.Pattern[str]
) -> CommentedText:
    starts = [0, *(match.end() for match in line_end.finditer(text))]
    lines = line_end.split(text)
    return CommentedText(lines, [_build_comment(text, span, starts, lines) for span in spans])


def _build_comment(
    text: str, span: tuple[int, int], starts: list[int], lines: list[str]
) -> Comment:
    line = bisect_right(starts, span[0])
    column = span[0] - starts[line - 1] + 1
    content = text[span[0] + 1 : span[1]].rstrip().removeprefix(" ")
    alone = not lines[line - 1][: column - 1].strip(" \t-?")
    return Comment(content or " ", line, column, alone)


class Anchor:
    """A key or list item in the source text."""

    __slots__ = ("above", "at", "below", "beside", "is_item", "node", "parent")

    def __init__(
        self, at: Position, node: TreeNode, parent: Anchor | None, *, is_item: bool = False
    ) -> None:
        self.at = at
        self.node = node
        """Value of the key, or the item itself."""
        self.parent = parent
        self.is_item = is_item
        self.above: list[str] = []
        self.beside: list[str] = []
        self.below: list[str] = []

    @property
    def indent(self) -> int:
        """Column of a comment that belongs to it; the column of the dash for an item."""
        return self.at.column - 2 if self.is_item else self.at.column

    @property
    def order(self) -> tuple[int, int, bool]:
        """Sort key by position; an item precedes its first key."""
        return (self.at.line, self.at.column, not self.is_item)


def list_anchors(tree: MappingNode) -> list[Anchor]:
    """Return all keys and items of a tree in source order, each once."""
    known: dict[tuple[Position, bool], Anchor] = {}
    _collect(tree, None, known)
    return sorted(known.values(), key=lambda anchor: anchor.order)


def _collect(
    node: TreeNode, parent: Anchor | None, known: dict[tuple[Position, bool], Anchor]
) -> None:
    if isinstance(node, MappingNode):
        for entry in node.entries.values():
            value = entry.value
            if isinstance(value, MappingNode) and value.at == entry.key.at:
                _collect(value, parent, known)  # a table that only a longer name speaks of
            else:
                _add(Anchor(entry.key.at, value, parent), known)
    elif isinstance(node, SequenceNode):
        for item in node.items:
            _add(Anchor(item.at, item, parent, is_item=True), known)


def _add(anchor: Anchor, known: dict[tuple[Position, bool], Anchor]) -> None:
    location = (anchor.at, anchor.is_item)
    if location in known:
        return  # repeated by an alias
    known[location] = anchor
    if not isinstance(anchor.node, ScalarNode):
        _collect(anchor.node, anchor, known)


_NO_COMMENTS = Commented(value=None)
_EDITOR_DIRECTIVES = ("yaml-language-server:", ":schema ")
"""Prefixes of comments that tell an editor where the schema of the file is."""


class Comments:
    """The comments of one file. Each is returned once, so that a value repeated by an alias has
    none."""

    def __init__(
        self, header: list[str], anchors: list[Anchor], footer: list[str], for_editors: list[int]
    ) -> None:
        self.header = tuple(_trim_empty_lines(header))
        """Comments of the file as a whole; an empty text is a blank line."""
        self.footer = tuple(_trim_empty_lines(footer))
        """Comments after the last key."""
        self.editor_lines = tuple(for_editors)
        """Line numbers of comments for editors."""
        self._keys = {anchor.at: anchor for anchor in anchors if not anchor.is_item}
        self._items = {anchor.at: anchor for anchor in anchors if anchor.is_item}

    def take_key(self, at: Position) -> Commented:
        """Return and remove the comments of the key at a position."""
        return _comments_of(self._keys.pop(at, None))

    def take_item(self, at: Position) -> Commented:
        """Return and remove the comments of the list item at a position."""
        return _comments_of(self._items.pop(at, None))

    def move_to_item(self, key: Position, item: Position) -> None:
        """Attach the comments of a key to a list item."""
        anchor = self._keys.pop(key, None)
        if anchor is not None:
            self._items[item] = anchor

    def remaining(self) -> Iterator[tuple[Position, str]]:
        """Yield comments that were not taken, with their positions."""
        for anchor in [*self._keys.values(), *self._items.values()]:
            for text in (*anchor.above, *anchor.beside, *anchor.below):
                if text.strip():
                    yield anchor.at, text


def attach_comments(source: CommentedText, tree: MappingNode, *, indented: bool) -> Comments:
    """Attach comments to keys and items; `indented` is whether indentation is significant."""
    return _CommentAttacher(source, list_anchors(tree), indented).comments()


class _CommentAttacher:
    def __init__(self, source: CommentedText, known: list[Anchor], indented: bool) -> None:
        self._lines = source.lines
        self._comments = source.comments
        self._anchors = known
        self._starts = [(anchor.at.line, anchor.at.column) for anchor in known]
        self._indented = indented
        alone = {comment.line: comment for comment in source.comments if comment.on_own_line}
        self._for_editors = [
            line for line, comment in alone.items() if comment.text.startswith(_EDITOR_DIRECTIVES)
        ]
        self._alone = {
            line: comment for line, comment in alone.items() if line not in self._for_editors
        }
        self._header: list[str] = []
        self._footer: list[str] = []

    def comments(self) -> Comments:
        for comment in self._comments:
            if not comment.on_own_line:
                self._beside(comment)
        for block in self._blocks():
            self._settle_backwards(block)
        previous_line = 0
        for anchor in self._anchors:
            if anchor.at.line != previous_line:
                self._settle_above(anchor)
            previous_line = anchor.at.line
        for comment in list(self._alone.values()):
            self._settle_orphan(comment)
        return Comments(self._header, self._anchors, self._footer, self._for_editors)

    def _before(self, comment: Comment) -> Anchor | None:
        index = bisect_left(self._starts, (comment.line, comment.column))
        return self._anchors[index - 1] if index else None

    def _after(self, comment: Comment) -> Anchor | None:
        index = bisect_left(self._starts, (comment.line, comment.column))
        return self._anchors[index] if index < len(self._anchors) else None

    def _beside(self, comment: Comment) -> None:
        anchor = self._before(comment)
        if anchor is None:
            self._header.append(comment.text)
            return
        first = self._anchors[bisect_left(self._starts, (anchor.at.line, 0))]
        if first.at.line == comment.line and self._is_header(first):
            first.beside.append(comment.text)
        else:
            self._enclosing_brackets(anchor, comment).beside.append(comment.text)

    def _is_header(self, anchor: Anchor) -> bool:
        """Whether it is a `[table]` or `[[table]]` header of TOML."""
        if self._indented:
            return False
        if anchor.is_item:
            return self._source_at(anchor.at).startswith("[[")
        return anchor.node.at < anchor.at  # the table starts before its name

    def _enclosing_brackets(self, anchor: Anchor, comment: Comment) -> Anchor:
        """Return the anchor whose brackets are still open at the comment."""
        before = self._lines[comment.line - 1][: comment.column - 1].rstrip(" \t,")
        closed = before.endswith(("]", "}"))
        while self._is_in_brackets(anchor) and anchor.parent is not None:
            if not closed and anchor.parent.at.line != comment.line:
                break
            anchor = anchor.parent
        return anchor

    def _is_in_brackets(self, anchor: Anchor) -> bool:
        parent = anchor.parent
        if parent is None or self._is_header(parent):
            return False
        return self._source_at(parent.node.at).startswith(("{", "["))

    def _source_at(self, at: Position) -> str:
        return self._lines[at.line - 1][at.column - 1 :]

    def _blocks(self) -> list[list[Comment]]:
        """Group adjacent comments on their own lines with the same indentation."""
        alone = sorted(self._alone.values(), key=lambda comment: comment.line)
        blocks = groupby(
            enumerate(alone),
            key=lambda pair: (pair[1].line - pair[0], pair[1].column if self._indented else 0),
        )
        return [[comment for _, comment in block] for _, block in blocks]

    def _settle_backwards(self, block: list[Comment]) -> None:
        """Attach a block to what precedes it, if it belongs there."""
        before = self._before(block[0])
        if before is None:
            return
        if self._closes_after(block[-1]):
            before.below.extend(comment.text for comment in block)
        elif self._belongs_before(block, before):
            target = self._enclosing(before, block[0])
            target.below.extend(comment.text for comment in block)
        elif self._after(block[0]) is None:
            if self._footer:
                self._footer.append("")
            self._footer.extend(comment.text for comment in block)
        else:
            return
        for comment in block:
            del self._alone[comment.line]

    def _closes_after(self, comment: Comment) -> bool:
        following = (line.strip() for line in self._lines[comment.line :])
        text = next((line for line in following if line and not line.startswith("#")), "")
        return text.startswith(("]", "}"))

    def _belongs_before(self, block: list[Comment], before: Anchor) -> bool:
        after = self._after(block[0])
        if after is not None and self._is_in_brackets(after):
            return False
        if self._indented:
            return block[0].column > (1 if after is None else after.indent)
        touches = bool(self._line(block[0].line - 1).strip())
        apart = after is None or not self._line(block[-1].line + 1).strip()
        return touches and apart and not self._is_header(before)

    def _line(self, number: int) -> str:
        return self._lines[number - 1] if 1 <= number <= len(self._lines) else ""

    def _enclosing(self, anchor: Anchor, comment: Comment) -> Anchor:
        """Return the ancestor of an anchor at the level of a comment."""
        while anchor.parent is not None and (
            anchor.indent > comment.column if self._indented else self._is_in_brackets(anchor)
        ):
            anchor = anchor.parent
        return anchor

    def _settle_above(self, anchor: Anchor) -> None:
        """Attach the comments directly above an anchor to it."""
        taken: list[str] = []
        line = anchor.at.line - 1
        while line >= 1 and (line in self._alone or self._is_empty(line)):
            comment = self._alone.pop(line, None)
            taken.insert(0, "" if comment is None else comment.text)
            line -= 1
        if line == 0 and "" in taken:
            end = len(taken) - taken[::-1].index("")
            self._header.extend(taken[:end])
            del taken[:end]
        anchor.above[:0] = _collapse_empty_lines(taken)

    def _is_empty(self, line: int) -> bool:
        text = self._lines[line - 1].strip()
        marks = self._indented and (text == "---" or text.startswith("%"))
        return not text or marks or line in self._for_editors

    def _settle_orphan(self, comment: Comment) -> None:
        """Attach a comment between a key and its value."""
        anchor = self._before(comment)
        if anchor is None:
            self._header.append(comment.text)
        else:
            anchor.above.append(comment.text)


def _comments_of(anchor: Anchor | None) -> Commented:
    if anchor is None:
        return _NO_COMMENTS
    return Commented(
        value=None,
        above=tuple(anchor.above),
        beside=" ".join(anchor.beside),
        below=tuple(anchor.below),
    )


def _collapse_empty_lines(lines: list[str]) -> list[str]:
    return [line for index, line in enumerate(lines) if line or not index or lines[index - 1]]


def _trim_empty_lines(lines: list[str]) -> list[str]:
    kept = _collapse_empty_lines(lines)
    while kept and not kept[0]:
        del kept[0]
    while kept and not kept[-1]:
        del kept[-1]
    return kept


__all__ = ["Comments", "read_toml_comments", "read_yaml_comments"]


def read_yaml_comments(text: str, tree: MappingNode) -> Comments:
    """Return the comments of a YAML text with the given tree."""
    return attach_comments(find_yaml_comments(text), tree, indented=True)


def read_toml_comments(text: str, tree: MappingNode) -> Comments:
    """Return the comments of a TOML text with the given tree."""
    return attach_comments(find_toml_comments(text), tree, indented=False)
