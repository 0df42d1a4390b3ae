"""Find comments in a text: a `#` outside of values."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from stockman.config.source.yaml_reader import scan_tokens
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
