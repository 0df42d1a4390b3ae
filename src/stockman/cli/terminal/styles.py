"""Colors, display width, and removal of terminal control characters."""

from __future__ import annotations

from collections.abc import Callable

Paint = Callable[[str, str], str]
"""Takes a text and the name of a style; returns the text with escape sequences."""

_STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "good": "32",
    "name": "36",
    "heading": "1",
    "faint": "2",
}


def paint_text(text: str, style: str) -> str:
    """Return the text with the escape sequences of a style; unchanged for `""`."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and text else text


def plain_text(text: str, style: str) -> str:
    """Return the text without colors, for pipes and NO_COLOR."""
    del style
    return text


def escape_control(text: str) -> str:
    """Return the text with control characters escaped, so that it stays one safe line."""
    if text.isprintable():
        return text
    return "".join(
        character if _is_harmless(character) else _escape(character) for character in text
    )


def display_width(text: str) -> int:
    """Return the number of terminal columns of a text."""
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


def count_noun(count: int, noun: str) -> str:
    """Return a number with a noun in singular or plural."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


_MINUTE = 60
_HOUR = 60 * _MINUTE


def format_duration(seconds: float) -> str:
    """Format whole seconds in Go notation: `1h2m3s`."""
    minutes, seconds_left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds_left}s"
    return f"{minutes}m{seconds_left}s" if minutes else f"{seconds_left}s"


def format_estimate(seconds: float) -> str:
    """Format an estimate with reduced precision: `40s`, `6m`, `1h20m`."""
    if seconds < _MINUTE:
        return f"{max(round(seconds / 5) * 5, 5)}s" if seconds > 0 else "0s"
    minutes = round(seconds / _MINUTE)
    if seconds < _HOUR:
        return f"{minutes}m"
    hours, minutes_left = divmod(round(minutes / 5) * 5, 60)
    return f"{hours}h{minutes_left}m" if minutes_left else f"{hours}h"
