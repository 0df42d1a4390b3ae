"""Selectors: which values of a file are encrypted, by suffix or regular expression.

SOPS uses regular expressions of Go, which are translated for Python.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from stockman.crypto.sops import problems
from stockman.crypto.sops.problems import Location
from stockman.model.pattern import pattern
from stockman.model.record import record

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


def compile_go_regex(pattern: str) -> re.Pattern[str]:
    """Compile a Go regular expression; raises ValueError if Go or Python does not support it."""
    translated = _RegexTranslator(pattern).text()
    try:
        return re.compile(translated, re.ASCII)
    except re.error as error:
        raise ValueError(error.msg) from None
    except RecursionError:
        raise ValueError("its nesting is too deep") from None


class _RegexTranslator:
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


SELECTOR_NAMES = (
    "unencrypted_suffix",
    "encrypted_suffix",
    "unencrypted_regex",
    "encrypted_regex",
    "unencrypted_comment_regex",
    "encrypted_comment_regex",
)
DEFAULT_SUFFIX = "_unencrypted"


@record
class Selector:
    """Selects the values to encrypt. With an empty name, all values are encrypted."""

    name: str = "unencrypted_suffix"
    pattern: str = DEFAULT_SUFFIX

    @property
    def is_inverse(self) -> bool:
        """Whether a match leaves a value unencrypted."""
        return self.name.startswith("unencrypted") or not self.name

    @property
    def by_comment(self) -> bool:
        return self.name.endswith("comment_regex")

    def compile(self) -> Matcher:
        """Return a matcher for this selector."""
        return Matcher(self)


ENCRYPT_ALL = Selector(name="", pattern="")


class Matcher:
    """A compiled selector that caches its results."""

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self._suffix = selector.pattern if selector.name.endswith("suffix") else None
        regex = selector.name.endswith("regex")
        self._regex: re.Pattern[str] | None = compile_go_regex(selector.pattern) if regex else None
        self._known: dict[str, bool] = {}

    def matches(self, text: str) -> bool:
        """Return whether a key or comment matches the pattern."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._compute_match(text)
        return known

    def _compute_match(self, text: str) -> bool:
        if self._regex is not None:
            return self._regex.search(text) is not None
        return self._suffix is not None and text.endswith(self._suffix)


def build_selector(options: Mapping[str, str], where: Location) -> Selector:
    """Return the selector of a rule or file; the default excludes values with the suffix
    `_unencrypted`."""
    named = [name for name in SELECTOR_NAMES if options.get(name)]
    if len(named) > 1:
        raise problems.several_selectors(where, named)
    if not named:
        return Selector()
    selector = Selector(name=named[0], pattern=options[named[0]])
    try:
        selector.compile()
    except ValueError as error:
        raise problems.bad_regex(where, named[0], str(error)) from None
    return selector


DEFAULT_INDENT = 4


@record
class EncryptionSettings:
    """Settings for encrypting a new file."""

    recipients: tuple[str, ...]
    selector: Selector = Selector()
    only_encrypted: bool = False
    """Whether the MAC covers encrypted values only."""
    indent: int = DEFAULT_INDENT
    """Indentation of the `sops` entry in YAML files."""
