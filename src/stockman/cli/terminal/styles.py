"""Colours, the width of text on a terminal, and text that cannot steer one."""

from __future__ import annotations

from collections.abc import Callable

Paint = Callable[[str, str], str]
"""Takes a text and the name of a style; returns the text as the terminal wants it."""

_STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "good": "32",
    "name": "36",
    "heading": "1",
    "faint": "2",
}


def paint_text(text: str, style: str) -> str:
    """The text with the escape sequences of a style; as it is for `""`."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and text else text


def plain_text(text: str, style: str) -> str:
    """The text without colours, for pipes and for those who do not want them."""
    del style
    return text


def escape_control(text: str) -> str:
    """The text with control characters written out, so that it stays one harmless line."""
    if text.isprintable():
        return text
    return "".join(
        character if _is_harmless(character) else _escape(character) for character in text
    )


def display_width(text: str) -> int:
    """How many columns a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_char_width(character) for character in text)


def _is_harmless(character: str) -> bool:
    import unicodedata

    return character.isprintable() or unicodedata.category(character) in ("Zs", "Co", "Cn")


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _char_width(character: str) -> int:
    import unicodedata

    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
