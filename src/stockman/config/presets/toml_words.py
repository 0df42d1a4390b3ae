"""Comments of the classic dialect in the words of the TOML dialect."""

from __future__ import annotations

import re

from stockman.config.dialect import CLASSIC_KEYS

_COMMENT = re.compile(r"^[ ]*#.*$", re.MULTILINE)
_LISTED = re.compile(r"(?P<key>#   \S.*?)(?P<gap> {2,})(?P<text>\S.*)")
_KEY = re.compile(r"\b(?:" + "|".join(sorted(CLASSIC_KEYS, key=len, reverse=True)) + r")\b")
_PHRASES = {
    "(see nodes.yaml)": "(see the classes below)",
    "in nodes.yaml": "below",
}


def in_toml_words(text: str) -> str:
    """A YAML text whose comments name keys and places as `cluster.toml` has them."""
    return _COMMENT.sub(lambda found: _translated(found[0]), text)


def _translated(comment: str) -> str:
    listed = _LISTED.fullmatch(comment)
    if listed is None:
        return _renamed(comment)
    key = _renamed(listed["key"])
    column = len(listed["key"] + listed["gap"])
    return f"{key}{' ' * max(column - len(key), 2)}{_renamed(listed['text'])}"


def _renamed(text: str) -> str:
    for classic, toml in _PHRASES.items():
        text = text.replace(classic, toml)
    return _KEY.sub(lambda found: CLASSIC_KEYS[found[0]], text)
