"""Selectors of disks and links, evaluated: the part of CEL that Talos' users write."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from stockman.talos.validation.cel.parser import InvalidExpression, Token, tokenize

UNITS = {
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "TiB": 1 << 40,
    "PiB": 1 << 50,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "PB": 10**15,
    "EiB": 1 << 60,
    "EB": 10**18,
}
_COMPARED: dict[str, Callable[[Any, Any], object]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda one, many: one in many,
}
_ADDED: dict[str, Callable[[Any, Any], object]] = {"+": operator.add, "-": operator.sub}
_TIMES: dict[str, Callable[[Any, Any], object]] = {
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
}
_FUNCTIONS: dict[str, Callable[..., object]] = {
    "mac": lambda value: str(value).lower(),
    "glob": lambda pattern, value: fnmatchcase(str(value), str(pattern)),
    "size": len,
    "string": str,
    "int": int,
    "uint": int,
}
_METHODS: dict[str, Callable[..., object]] = {
    "startsWith": lambda value, start: str(value).startswith(start),
    "endsWith": lambda value, end: str(value).endswith(end),
    "contains": lambda value, part: part in value,
    "matches": lambda value, pattern: re.search(pattern, str(value)) is not None,
    "lowerAscii": lambda value: str(value).lower(),
    "upperAscii": lambda value: str(value).upper(),
    "size": len,
}


class NotEvaluable(ValueError):
    """An expression that is wrong, or of the part of CEL that is not done here."""


def selects(expression: str, variables: Mapping[str, object]) -> bool:
    """Whether an expression is true of something, `{"disk": {"dev_path": "/dev/sda"}}`."""
    return _Evaluation(_words(expression), {**UNITS, **variables}).whole() is True


@lru_cache(maxsize=256)
def _words(expression: str) -> tuple[Token, ...]:
    try:
        return tuple(tokenize(expression))
    except InvalidExpression as wrong:
        raise NotEvaluable(str(wrong)) from None


class _Evaluation:
    """One expression on its way from left to right."""

    def __init__(self, words: tuple[Token, ...], variables: Mapping[str, object]) -> None:
        self._words = words
        self._variables = variables
        self._at = 0

    def whole(self) -> object:
        try:
            value = self._either()
        except (TypeError, LookupError, ArithmeticError, re.error) as error:
            raise NotEvaluable(str(error)) from None
        if self._words[self._at].kind != "end":
            raise NotEvaluable(f"{self._words[self._at].text} is too much")
        return value

    def _taken(self, *marks: str) -> str:
        text = self._words[self._at].text
        if text not in marks:
            return ""
        self._at += 1
        return text

    def _expect(self, mark: str) -> None:
        if not self._taken(mark):
            raise NotEvaluable(f"{mark} is missing")

    def _either(self) -> Any:  # noqa: ANN401 - values of any type
        value = self._both()
        while self._taken("||"):
            both = self._both()
            value = value is True or both is True
        return value

    def _both(self) -> Any:  # noqa: ANN401 - values of any type
        value = self._comparison()
        while self._taken("&&"):
            other = self._comparison()
            value = value is True and other is True
        return value

    def _comparison(self) -> Any:  # noqa: ANN401 - values of any type
        value = self._sum()
        while sign := self._taken(*_COMPARED):
            value = _COMPARED[sign](value, self._sum())
        return value

    def _sum(self) -> Any:  # noqa: ANN401 - values of any type
        value = self._product()
        while sign := self._taken(*_ADDED):
            value = _ADDED[sign](value, self._product())
        return value

    def _product(self) -> Any:  # noqa: ANN401 - values of any type
        value = self._signed_value()
        while sign := self._taken(*_TIMES):
            value = _TIMES[sign](value, self._signed_value())
        return value

    def _signed_value(self) -> Any:  # noqa: ANN401 - values of any type
        if self._taken("!"):
            return self._signed_value() is not True
        return -self._signed_value() if self._taken("-") else self._member()

    def _member(self) -> Any:  # noqa: ANN401 - values of any type
        value = self._single()
        while mark := self._taken(".", "["):
            if mark == "[":
                key = self._either()
                self._expect("]")
                value = value[key]
                continue
            name = self._words[self._at].text
            self._at += 1
            if self._taken("("):
                value = _METHODS[name](value, *self._arguments(")"))
            else:
                value = value[name]
        return value

    def _single(self) -> Any:  # noqa: ANN401 - values of any type
        word = self._words[self._at]
        self._at += 1
        if word.text == "(":
            value = self._either()
            self._expect(")")
            return value
        if word.text == "[":
            return self._arguments("]")
        if word.kind == "name":
            if self._taken("("):
                return _FUNCTIONS[word.text](*self._arguments(")"))
            return self._variables[word.text]
        return _literal(word)

    def _arguments(self, end: str) -> list[Any]:
        eithers: list[Any] = []
        while not self._taken(end):
            eithers.append(self._either())
            if self._words[self._at].text != end:
                self._expect(",")
        return eithers


def _literal(token: Token) -> object:
    if token.kind == "bool":
        return token.text == "true"
    if token.kind in ("int", "uint"):
        return int(token.text.rstrip("uU"), 0)
    if token.kind == "double":
        return float(token.text)
    if token.kind == "string":
        try:
            return ast.literal_eval(token.text)
        except (SyntaxError, ValueError):
            raise NotEvaluable(f"{token.text} is no text") from None
    raise NotEvaluable(f"{token.text or 'the end'} stands where a value belongs")
