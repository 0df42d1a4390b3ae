"""Scalars of YAML as the Go library writes them in the `sops` entry."""

from __future__ import annotations

import json

from stockman.crypto.sops.scalars import resolved
from stockman.model.pattern import pattern

# Read as something else by YAML 1.1: the Go library quotes these for the sake of other readers.
_OLD_WORDS = frozenset(
    "y Y yes Yes YES on On ON n N no No NO off Off OFF".split()  # noqa: SIM905  # shorter so
)
_BASE_60 = pattern(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_FIRST = "#,[]{}&*!|>'\"%@`"


def go_scalar(text: str) -> str:
    """A text on one line, plain where that is safe, else in the quotes that Go takes."""
    if _reads_as_other(text) or not text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    if is_plain(text):
        return text
    return "'" + text.replace("'", "''") + "'"


def is_plain(text: str) -> bool:
    """Whether a text needs no quotes outside of brackets, apart from what it would be read as."""
    return not (
        not text
        or text[0] in _FIRST
        or text != text.strip(" ")
        or text.startswith(("---", "..."))
        or (text[0] in "-?:" and (len(text) == 1 or text[1] == " "))
        or ": " in text
        or text.endswith(":")
        or " #" in text
    )


def _reads_as_other(text: str) -> bool:
    if text in _OLD_WORDS or _BASE_60.fullmatch(text):
        return True
    try:
        return not isinstance(resolved(text), str)
    except ValueError:
        return True


def needs_quotes(text: str) -> bool:
    """Whether a YAML reader would take the bare text as something else than this text."""
    return _reads_as_other(text) or not is_plain(text) or not text.isprintable()
