"""One key or one text as TOML writes it."""

from __future__ import annotations

import re

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_CONTROL_IN_LINES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_ESCAPES = {
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
    '"': '\\"',
    "\\": "\\\\",
}


def key(text: str) -> str:
    """A key: bare where TOML allows it, otherwise quoted."""
    return text if _BARE_KEY.fullmatch(text) else line(text)


def string(text: str) -> str:
    """A text as a value: texts of several lines stay lines."""
    return _lines(text) if "\n" in text else line(text)


def line(text: str) -> str:
    """A text on one line."""
    if ('"' in text or "\\" in text) and "'" not in text and _CONTROL.search(text) is None:
        return f"'{text}'"
    return '"' + re.sub(r'[\x00-\x1f\x7f"\\]', _escaped, text) + '"'


def _lines(text: str) -> str:
    as_is = "'''" not in text and not text.endswith("'") and not _CONTROL_IN_LINES.search(text)
    if as_is and ("\\" in text or '"' in text):
        return f"'''\n{text}'''"
    body = re.sub(r'[\x00-\x08\x0b-\x1f\x7f\\]|"(?="|\Z)', _escaped, text)
    return f'"""\n{body}"""'


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return _ESCAPES.get(character) or f"\\u{ord(character):04x}"
