"""The text of an expression, cut into words."""

from __future__ import annotations

import re
from typing import NamedTuple

from stockman.talos.patches.table import NUMBERS

_SPACE = re.compile(r"(?:[ \t\r\n\f]+|//[^\n]*)*")
_NUMBER = re.compile(
    r"(?P<double>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<whole>0x[0-9a-fA-F]+|[0-9]+)(?P<unsigned>[uU]?)"
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STRING = re.compile(
    r"(?P<prefix>[bB]?[rR]?|[rR][bB])"
    r"(?P<body>\"\"\"(?s:.*?)(?<!\\)\"\"\"|'''(?s:.*?)(?<!\\)'''"
    r"|\"(?:[^\"\\\r\n]|\\.)*\"|'(?:[^'\\\r\n]|\\.)*')"
)
_RAW = re.compile(r"[rR](?P<body>\"[^\"\r\n]*\"|'[^'\r\n]*')")
_ESCAPE = re.compile(
    r"\\(?:[abfnrtv\\?\"'`]|x[0-9a-fA-F]{2}|X[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}"
    r"|[0-3][0-7]{2})"
)
_MARKS = re.compile(r"&&|\|\||==|!=|<=|>=|[<>+\-*/%!?:.,()\[\]{}]")
_WORDS = {"true": "bool", "false": "bool", "null": "null_type"}


class WrongExpression(ValueError):
    """What is wrong with an expression, and where: how many characters stand before."""

    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.at = at


class Token(NamedTuple):
    """One word: `name`, `mark`, `end`, or the type of a literal."""

    kind: str
    text: str
    at: int


def tokens(text: str) -> list[Token]:
    """All words, with one of kind `end` after them."""
    found: list[Token] = []
    at = _skipped(text, 0)
    while at < len(text):
        token = _next(text, at)
        found.append(token)
        at = _skipped(text, at + len(token.text))
    return [*found, Token("end", "", len(text))]


def _skipped(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _next(text: str, at: int) -> Token:
    for read in (_string, _number, _word, _mark):
        token = read(text, at)
        if token is not None:
            return token
    raise WrongExpression(f"{text[at]!r} means nothing here", at)


def _string(text: str, at: int) -> Token | None:
    raw = _RAW.match(text, at)
    if raw is not None:
        return Token("string", raw[0], at)
    match = _STRING.match(text, at)
    if match is None:
        if text[at] in "\"'":
            raise WrongExpression("a quote is not closed", at)
        return None
    prefix = match["prefix"].lower()
    if "r" not in prefix:
        for backslash in re.finditer(r"\\.?", match["body"], re.DOTALL):
            if not _ESCAPE.match(match["body"], backslash.start()) and not _is_escaped(
                match["body"], backslash.start()
            ):
                raise WrongExpression(f"{backslash[0]} is no escape", at)
    return Token("bytes" if "b" in prefix else "string", match[0], at)


def _is_escaped(body: str, at: int) -> bool:
    count = 0
    while at > count and body[at - count - 1] == "\\":
        count += 1
    return count % 2 == 1


def _number(text: str, at: int) -> Token | None:
    match = _NUMBER.match(text, at)
    if match is None:
        return None
    if match["double"]:
        return Token("double", match[0], at)
    kind = "uint" if match["unsigned"] else "int"
    value = int(match["whole"], 16 if match["whole"].startswith("0x") else 10)
    if value > NUMBERS[f"{kind}64"][1] + (kind == "int"):
        raise WrongExpression(f"{match[0]} is too large", at)
    return Token(kind, match[0], at)


def _word(text: str, at: int) -> Token | None:
    match = _NAME.match(text, at)
    return None if match is None else Token(_WORDS.get(match[0], "name"), match[0], at)


def _mark(text: str, at: int) -> Token | None:
    match = _MARKS.match(text, at)
    return None if match is None else Token("mark", match[0], at)
