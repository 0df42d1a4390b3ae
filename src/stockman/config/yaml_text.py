"""One text as YAML writes it: bare only where YAML 1.1 and YAML 1.2 both read that very text."""

from __future__ import annotations

import re
from functools import cache

_WORDS = frozenset(
    form
    for word in ("null", "y", "yes", "n", "no", "true", "false", "on", "off")
    for form in (word, word.capitalize(), word.upper())
)
_NUMBER_OR_TIME = re.compile(
    r"""
      [-+]?0[bBoOxX][0-9A-Fa-f_]*                                     # other bases
    | [-+]?[0-9][0-9_,]*(:[0-9_]+)+(\.[0-9_]*)?                       # base 60
    | [-+]?([0-9][0-9_,]*(\.[0-9_]*)?|\.[0-9_]+)([eE][-+]?[0-9_]*)?   # decimal
    | [-+]?\.(inf|Inf|INF|nan|NaN|NAN)
    | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt\s].*)?                       # time stamps
    | [0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2})+                                # MAC addresses, all alike
    """,
    re.VERBOSE,
)
_BARE_ASCII = re.compile(r"[A-Za-z0-9_/.$(~^;+\\][^\n\t]*")
_ESCAPED_ASCII = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0", '"': '\\"', "\\": "\\\\"}


@cache
def _bare() -> re.Pattern[str]:
    """Classes of characters beyond ASCII take milliseconds to compile, and are seldom needed."""
    return re.compile(r"[A-Za-z0-9_/.$(~^;+\\\u00c0-\ud7ff][^\n\t]*")


@cache
def _escaped() -> re.Pattern[str]:
    return re.compile(
        r"[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
    )


def _escapes(text: str) -> re.Pattern[str]:
    """What of a text needs an escape."""
    return _ESCAPED_ASCII if text.isascii() else _escaped()


def scalar(text: str) -> str:
    """A text on one line: bare, in single or in double quotes."""
    if is_bare(text):
        return text
    if _escapes(text).search(text) or not re.search(r'["\\]', text):
        return _in_double_quotes(text)
    return "'" + text.replace("'", "''") + "'"


def is_bare(text: str) -> bool:
    """Whether a text may stand without quotes in block style, as a key or as a value."""
    return (
        (_BARE_ASCII if text.isascii() else _bare()).fullmatch(text) is not None
        and text[-1] not in " :"
        and ": " not in text
        and " #" not in text
        and text not in _WORDS
        and text != "~"
        and text != "..."
        and _NUMBER_OR_TIME.fullmatch(text) is None
        and _escapes(text).search(text) is None
    )


def is_block(text: str) -> bool:
    """Whether a text of several lines comes back unchanged from a literal block."""
    lines = text.split("\n")
    return (
        len(lines) > 1
        and bool(lines[0])
        and lines[0][0] not in " \t"
        and not text.endswith("\n\n")
        and not any(line.isspace() for line in lines)
        and not any(_escapes(text).search(line.replace("\t", "")) for line in lines)
    )


def block(text: str) -> tuple[str, list[str]]:
    """The header of a literal block and its lines, not yet indented."""
    body = text.removesuffix("\n")
    return ("|-" if body == text else "|"), body.split("\n")


def _in_double_quotes(text: str) -> str:
    escaped = re.sub(r'["\\]', lambda found: _ESCAPES[found[0]], text)
    return '"' + _escapes(text).sub(lambda found: _escape(found[0]), escaped) + '"'


def _escape(character: str) -> str:
    known = _ESCAPES.get(character)
    if known is not None:
        return known
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
