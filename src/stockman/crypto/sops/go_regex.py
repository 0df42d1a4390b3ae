"""Regular expressions of Go, as SOPS compiles them, for Python's engine."""

from __future__ import annotations

import re

from stockman.model.pattern import pattern

_TOKEN = pattern(
    r"\\(?P<escaped>.)|\[:(?P<posix>\^?[a-z]+):\]|(?P<group>\(\?.?.?)|(?P<char>.)", re.DOTALL
)
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_FLAGS = pattern(r"\(\?[imsU-]+[:)]")


def go_regex(pattern: str) -> re.Pattern[str]:
    """The compiled expression; ValueError: Go does not know it, or Python cannot do it."""
    translated = _Translation(pattern).text()
    try:
        return re.compile(translated, re.ASCII)
    except re.error as error:
        raise ValueError(error.msg) from None
    except RecursionError:
        raise ValueError("its nesting is too deep") from None


class _Translation:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._in_class = False
        self._after_quantifier = False

    def text(self) -> str:
        return "".join(self._one(match) for match in _TOKEN.finditer(self._pattern))

    def _one(self, match: re.Match[str]) -> str:
        if match["escaped"]:
            self._after_quantifier = False
            return _escape(match["escaped"])
        if match["posix"] and self._in_class:
            return _posix(match["posix"])
        if match["group"] and not self._in_class:
            self._after_quantifier = False
            return self._group(match)
        return "".join(self._character(character) for character in match[0])

    def _group(self, match: re.Match[str]) -> str:
        head = match["group"]
        if head.startswith(("(?=", "(?!", "(?<=", "(?<!", "(?(", "(?#", "(?>", "(?P=", "(?P>")):
            raise ValueError("look-around and conditions are not known to Go")
        if head.startswith("(?<"):
            return f"(?P<{head[3:]}"
        if _FLAGS.match(self._pattern, match.start()) is None and not head.startswith(
            ("(?:", "(?P<")
        ):
            raise ValueError("a group of a kind that is not known to Go")
        if "U" in head:
            raise ValueError("the flag U is not known to Python")
        return head

    def _character(self, character: str) -> str:
        if self._in_class:
            self._in_class = character != "]"
            return rf"\{character}" if character in "[&~|" else character
        if character == "[":
            self._in_class = True
        quantifier = character in "*+?"
        if character == "+" and self._after_quantifier:
            raise ValueError("possessive quantifiers are not known to Go")
        self._after_quantifier = quantifier or character == "}"
        # Python's `$` also matches before a line feed at the end.
        return r"\Z" if character == "$" else character


def _escape(character: str) -> str:
    if character == "z":
        return r"\Z"
    if character in "ZG" or character in "123456789kK":
        raise ValueError("back references and this escape are not known to Go")
    if character in "pPQEC":
        raise ValueError(rf"\{character} is not supported")
    return rf"\{character}"


def _posix(name: str) -> str:
    if name not in _POSIX:
        raise ValueError(f"[:{name}:] is not supported")
    return _POSIX[name]
