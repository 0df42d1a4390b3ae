"""Checkers of texts, and how the simple ones are made."""

from __future__ import annotations

import re
from collections.abc import Callable

Checker = Callable[[str], str | None]
"""A text to what is wrong with it, without the final line break; None if nothing is."""


class Like:
    """Wants a pattern, which is compiled when a first text comes: most formats are never met."""

    __slots__ = ("_flags", "_matched", "_pattern", "_problem")

    def __init__(self, pattern: str, problem: str, ignore_case: bool) -> None:
        self._pattern = pattern
        self._problem = problem
        self._flags = re.IGNORECASE if ignore_case else re.NOFLAG
        self._matched: Callable[[str], re.Match[str] | None] | None = None

    def __call__(self, text: str) -> str | None:
        if self._matched is None:
            self._matched = re.compile(self._pattern, self._flags).match
        return None if self._matched(text) else self._problem.replace("{}", text)


def like(pattern: str, problem: str, *, ignore_case: bool = False) -> Checker:
    """A checker that wants a pattern; `{}` in the problem stands for the text."""
    return Like(pattern, problem, ignore_case)


def anything(text: str) -> str | None:
    """A checker that takes every text."""
    del text
    return None
