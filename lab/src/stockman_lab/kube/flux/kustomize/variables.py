"""`${VARIABLES}` in texts, with the operators that Flux knows."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping

from stockman_lab.kube.flux.kustomize.failure import BuildFailure

_NAME = re.compile(r"^[_a-zA-Z][_a-zA-Z0-9]*$")
_NAME_SHOWN = "^[_[:alpha:]][_[:alpha:][:digit:]]*$"
_WORD = re.compile(r"\w+")
_TEXT = re.compile(r"[^$]+")
_DEFAULTS = re.compile(r":[=\-?+]|=")
_REPLACE = re.compile(r"/[/#%]?")
_CASES = re.compile(r",,?|\^\^?|,\^|\^,")
_REMOVE = re.compile(r"##?|%%?")
_NUMBER = re.compile(r"[-+]?[0-9]+")
_BAD, _NO_BRACE = "bad substitution", "missing closing brace"
_NO_NAME = "unable to parse variable name"
_NO_INNER = "unable to parse substitution within function"


def check_names(variables: Mapping[str, str]) -> None:
    """Refuse variables that no text can name."""
    for name in variables:
        if not _NAME.match(name):
            raise BuildFailure(f"'{name}' var name is invalid, must match '{_NAME_SHOWN}'")


def substituted(text: str, variables: Mapping[str, str]) -> str:
    """A text with the values of variables in it; those without one are empty."""
    if "$" not in text:
        return text
    try:
        return _Reading(text, variables).all()
    except BuildFailure as why:
        raise BuildFailure(f"variable substitution failed: {why}") from None


class _Reading:
    """A text that is read once from its beginning."""

    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self._text = text
        self._variables = variables
        self._at = 0

    def all(self) -> str:
        """The whole text."""
        plains: list[str] = []
        while self._at < len(self._text):
            plain = self._took(_TEXT)
            plains.append(plain)
            if self._text.startswith("${", self._at):
                self._at += 2
                plains.append(self._expression())
            elif self._at < len(self._text):
                plains.append("$")
                self._at += 2 if self._text.startswith("$$", self._at) else 1
        return "".join(plains)

    def _took(self, form: re.Pattern[str]) -> str:
        found = form.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found[0]

    @property
    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _expression(self) -> str:
        if self._next == "#":
            self._at += 1
            value = self._value(_BAD)
            self._close()
            return str(len(value.encode()))
        value = self._value(_NO_NAME)
        if self._text[self._at : self._at + 2] in {":=", ":-", ":?", ":+"} or self._next == "=":
            return self._default(value)
        operators: dict[str, Callable[[str], str]] = {
            ":": self._part,
            ",": self._cased,
            "^": self._cased,
            "/": self._replaced,
            "#": self._trimmed,
            "%": self._trimmed,
        }
        if self._next in operators:
            return operators[self._next](value)
        self._close(_NO_BRACE)
        return value

    def _value(self, why: str) -> str:
        name = self._took(_WORD)
        if not name:
            raise BuildFailure(why)
        return self._variables.get(name, "")

    def _close(self, why: str = _BAD) -> None:
        if self._next != "}":
            raise BuildFailure(why)
        self._at += 1

    def _argument(self, ends: str, *, escapes: bool = False) -> str:
        """A word of an operator, or an expression in it."""
        if self._text.startswith("${", self._at):
            self._at += 2
            return self._expression()
        nexts: list[str] = []
        while self._next and self._next not in ends and not self._text.startswith("${", self._at):
            is_escaped = escapes and self._text[self._at : self._at + 2] in {"\\/", "\\\\", "$$"}
            self._at += is_escaped
            nexts.append(self._next)
            self._at += 1
        if not nexts:
            raise BuildFailure(_NO_INNER)
        return "".join(nexts)

    def _default(self, value: str) -> str:
        self._took(_DEFAULTS)
        arguments = []
        while self._next != "}":
            arguments.append(self._argument("}"))
        self._close()
        return value or "".join(arguments)

    def _part(self, value: str) -> str:
        self._at += 1
        begin = self._argument(":}")
        length = None
        if self._next == ":":
            self._at += 1
            length = self._argument("}")
        self._close()
        return _part(value, begin, length)

    def _cased(self, value: str) -> str:
        took = self._took(_CASES)
        self._close()
        change = str.lower if took.endswith(",") else str.upper
        if took in {",,", "^^"}:
            return change(value)
        return change(value[:1]) + value[1:] if took in {",", "^"} else value

    def _replaced(self, value: str) -> str:
        took = self._took(_REPLACE)
        old = self._argument("/", escapes=True)
        if self._next != "/":
            raise BuildFailure(_BAD)
        while self._next == "/":
            self._at += 1
        new = "" if self._next == "}" else self._argument("}", escapes=True)
        is_bare = self._text[self._at - 1] == "/" and not new
        self._close()
        return _replaced(value, took, old, new, is_bare=is_bare)

    def _trimmed(self, value: str) -> str:
        took = self._took(_REMOVE)
        form = self._argument("}")
        self._close()
        return _trimmed(value, took, form)


def _part(value: str, begin: str, length: str | None) -> str:
    if not _NUMBER.fullmatch(begin) or not _NUMBER.fullmatch(length or "0"):
        return value
    start, size = int(begin), None if length is None else int(length)
    raw = value.encode()
    if start < 0:
        start = max(len(raw) + start, 0)
    end = len(raw) if size is None else start + size
    return raw[start:end].decode("utf-8", "replace")


def _replaced(value: str, word: str, old: str, new: str, *, is_bare: bool) -> str:
    if word == "//":
        return value.replace(old, new)
    if word == "/":
        return value.replace(old, new, 1)
    if is_bare:
        return value
    if word == "/#":
        return value.replace(old, new, 1) if value.startswith(old) else value
    return value.removesuffix(old) + new if value.endswith(old) else value


def _trimmed(value: str, word: str, form: str) -> str:
    glob = re.compile(fnmatch.translate(form))
    sizes = range(1, len(value) + 1) if len(word) == 1 else range(len(value), 0, -1)
    for size in sizes:
        part = value[:size] if word[0] == "#" else value[-size:]
        if glob.match(part):
            return value[size:] if word[0] == "#" else value[:-size]
    return value
