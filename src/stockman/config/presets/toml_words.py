"""Translate comments of the classic dialect to the TOML dialect."""

from __future__ import annotations

import re

from stockman.config.classic import CLASSIC_KEYS
from stockman.model.pattern import pattern

_COMMENT = pattern(r"^[ ]*#.*$", re.MULTILINE)
_LISTED_KEY = pattern(r"(?P<key>#   \S.*?)(?P<gap> {2,})(?P<text>\S.*)")
_KEY = pattern(r"\b(?:" + "|".join(sorted(CLASSIC_KEYS, key=len, reverse=True)) + r")\b")
_PHRASES = {
    "(see nodes.yaml)": "(see the classes below)",
    "in nodes.yaml": "below",
}


def translate_comments(text: str) -> str:
    """Replace flat keys and file names in comments of a YAML text with those of `cluster.toml`."""
    return _COMMENT.sub(lambda match: _translate_comment(match[0]), text)


def _translate_comment(comment: str) -> str:
    listed = _LISTED_KEY.fullmatch(comment)
    if listed is None:
        return _translate_keys(comment)
    key = _translate_keys(listed["key"])
    column = len(listed["key"] + listed["gap"])
    return f"{key}{' ' * max(column - len(key), 2)}{_translate_keys(listed['text'])}"


def _translate_keys(text: str) -> str:
    for classic, toml in _PHRASES.items():
        text = text.replace(classic, toml)
    return _KEY.sub(lambda match: CLASSIC_KEYS[match[0]], text)
