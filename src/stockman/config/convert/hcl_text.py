"""A cursor over HCL text that finds where things end, without judging what they are."""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_right
from typing import NoReturn

from stockman.config.source.text import MAX_DEPTH, Unreadable
from stockman.model.origin import Position
from stockman.model.problem import Problem

BLANK = re.compile(r"(?:[ \t]|/\*.*?\*/)*", re.DOTALL)
"""What may stand between two things on one line."""
SPACE = re.compile(r"(?:\s|#[^\n]*|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
"""What may stand between two things anywhere."""
HEREDOC = re.compile(r"<<(?P<dedent>-?)(?P<name>[^\W\d][\w-]*)[ \t]*\r?\n")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class HclText:
    """The text of a file and how far it was read."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self.text = text
        self.index = 0

    @property
    def at_end(self) -> bool:
        return self.index >= len(self.text)

    def ahead(self, *texts: str) -> bool:
        """Whether one of the texts comes next."""
        return self.text.startswith(texts, self.index)

    def skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.index)
        if found is not None:
            self.index = found.end()

    def at(self, index: int) -> Position:
        """The place of a character."""
        line = bisect_right(self._starts, index)
        return Position(self._file, line, index - self._starts[line - 1] + 1)

    def refuse(self, why: str, fix: str) -> NoReturn:
        """Say that the text makes no sense at this place."""
        raise Unreadable(
            Problem(
                code="hcl.syntax",
                what="this line cannot be read as HCL",
                where=self.at(min(self.index, len(self.text))),
                why=why,
                fix=fix,
            )
        )

    def check_depth(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            self.refuse(f"more than {MAX_DEPTH} levels are nested here", "nest less")

    def pass_expression(self, ends: str) -> None:
        """Go to the end of an expression: one of some characters outside of all brackets."""
        brackets: list[str] = []
        while not self.at_end:
            character = self.text[self.index]
            if not brackets and character in ends:
                return
            if character == '"':
                self.pass_string()
            elif self.ahead("<<"):
                self.pass_heredoc()
            elif self.ahead("#", "//", "/*"):
                if not brackets and "\n" in ends and not self.ahead("/*"):
                    return
                start = self.index
                self.skip(SPACE)
                if self.index == start:
                    self.refuse("a comment does not end", "end it with `*/`")
            else:
                self._track(character, brackets)
                self.index += 1
        if brackets:
            self.refuse("the file ends inside of brackets", f"close them with `{brackets[-1]}`")

    def _track(self, character: str, brackets: list[str]) -> None:
        if character in _CLOSING:
            brackets.append(_CLOSING[character])
            self.check_depth(len(brackets))
        elif brackets and character == brackets[-1]:
            brackets.pop()

    def pass_string(self) -> str:
        """Go behind a quoted text and return what is between the quotes, escapes included.

        Quotes inside of `${...}` belong to the expression there.
        """
        start = self.index
        braces = [0]  # of every text and expression that is open; texts are the odd ones
        self.index += 1
        while braces:
            in_text = len(braces) % 2 == 1
            character = self.text[self.index : self.index + 1]
            if not character or (in_text and character == "\n"):
                self.refuse("a quoted text does not end", 'end it with `"` on the same line')
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
        return self.ahead("${", "%{") and not doubled

    def _closes(self, character: str, braces: list[int]) -> bool:
        braces[-1] += {"{": 1, "}": -1}.get(character, 0)
        return braces[-1] == 0

    def pass_heredoc(self) -> str:
        """Go behind a heredoc and return its lines, without their common indentation if asked."""
        opening = HEREDOC.match(self.text, self.index)
        if opening is None:
            self.refuse("a heredoc has no name", "write `<<EOT` and a new line")
        name = opening["name"]
        closing = re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*\r?$", re.MULTILINE)
        end = closing.search(self.text, opening.end())
        if end is None:
            self.refuse(f"the heredoc {name} does not end", f"end it with {name} on its own line")
        self.index = end.end()
        lines = self.text[opening.end() : end.start()]
        return textwrap.dedent(lines) if opening["dedent"] else lines
