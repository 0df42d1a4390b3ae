"""Tokenizer and parser for CEL expressions."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from stockman.model.pattern import pattern
from stockman.talos.patches.schema import NUMBERS

_SPACE = pattern(r"(?:[ \t\r\n\f]+|//[^\n]*)*")
_NUMBER = pattern(
    r"(?P<double>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<whole>0x[0-9a-fA-F]+|[0-9]+)(?P<unsigned>[uU]?)"
)
_NAME = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_STRING = pattern(
    r"(?P<prefix>[bB]?[rR]?|[rR][bB])"
    r"(?P<body>\"\"\"(?s:.*?)(?<!\\)\"\"\"|'''(?s:.*?)(?<!\\)'''"
    r"|\"(?:[^\"\\\r\n]|\\.)*\"|'(?:[^'\\\r\n]|\\.)*')"
)
_RAW = pattern(r"[rR](?P<body>\"[^\"\r\n]*\"|'[^'\r\n]*')")
_ESCAPE = pattern(
    r"\\(?:[abfnrtv\\?\"'`]|x[0-9a-fA-F]{2}|X[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}"
    r"|[0-3][0-7]{2})"
)
_MARKS = pattern(r"&&|\|\||==|!=|<=|>=|[<>+\-*/%!?:.,()\[\]{}]")
_LITERALS = {"true": "bool", "false": "bool", "null": "null_type"}


class InvalidExpression(ValueError):
    """What is wrong with an expression, and the number of characters before it."""

    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.at = at


class Token(NamedTuple):
    """One token: `name`, `mark`, `end`, or the type of a literal."""

    kind: str
    text: str
    at: int


def tokenize(text: str) -> list[Token]:
    """Split a text into tokens, followed by one of kind `end`."""
    tokens: list[Token] = []
    at = _skip_space(text, 0)
    while at < len(text):
        token = _read_token(text, at)
        tokens.append(token)
        at = _skip_space(text, at + len(token.text))
    return [*tokens, Token("end", "", len(text))]


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _read_token(text: str, at: int) -> Token:
    for read in (_read_string, _read_number, _read_word, _read_mark):
        token = read(text, at)
        if token is not None:
            return token
    raise InvalidExpression(f"unexpected {text[at]!r}", at)


def _read_string(text: str, at: int) -> Token | None:
    raw = _RAW.match(text, at)
    if raw is not None:
        return Token("string", raw[0], at)
    match = _STRING.match(text, at)
    if match is None:
        if text[at] in "\"'":
            raise InvalidExpression("a quote is not closed", at)
        return None
    prefix = match["prefix"].lower()
    if "r" not in prefix:
        for backslash in re.finditer(r"\\.?", match["body"], re.DOTALL):
            if not _ESCAPE.match(match["body"], backslash.start()) and not _is_escaped(
                match["body"], backslash.start()
            ):
                raise InvalidExpression(f"{backslash[0]} is not a valid escape", at)
    return Token("bytes" if "b" in prefix else "string", match[0], at)


def _is_escaped(body: str, at: int) -> bool:
    count = 0
    while at > count and body[at - count - 1] == "\\":
        count += 1
    return count % 2 == 1


def _read_number(text: str, at: int) -> Token | None:
    match = _NUMBER.match(text, at)
    if match is None:
        return None
    if match["double"]:
        return Token("double", match[0], at)
    kind = "uint" if match["unsigned"] else "int"
    value = int(match["whole"], 16 if match["whole"].startswith("0x") else 10)
    if value > NUMBERS[f"{kind}64"][1] + (kind == "int"):
        raise InvalidExpression(f"{match[0]} is too large", at)
    return Token(kind, match[0], at)


def _read_word(text: str, at: int) -> Token | None:
    match = _NAME.match(text, at)
    return None if match is None else Token(_LITERALS.get(match[0], "name"), match[0], at)


def _read_mark(text: str, at: int) -> Token | None:
    match = _MARKS.match(text, at)
    return None if match is None else Token("mark", match[0], at)


_DEEPEST = 100
_RESERVED = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
_PRECEDENCE = {
    **dict.fromkeys(("||",), 1),
    **dict.fromkeys(("&&",), 2),
    **dict.fromkeys(("<", "<=", ">=", ">", "==", "!=", "in"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
}
"""Binary operators and their precedence."""
_CHAINED = ("||", "&&")


class Literal(NamedTuple):
    """A literal; `kind` is its type."""

    kind: str
    at: int


class Name(NamedTuple):
    """A variable, or the first segment of a qualified name."""

    text: str
    at: int


class Select(NamedTuple):
    """A field access; `optional`: the field may be missing."""

    value: Expression
    field: str
    optional: bool
    at: int


class Index(NamedTuple):
    """An index access."""

    value: Expression
    key: Expression
    optional: bool
    at: int


class Call(NamedTuple):
    """A call of a function, method or operator."""

    function: str
    target: Expression | None
    arguments: tuple[Expression, ...]
    at: int


class List(NamedTuple):
    """A list literal."""

    items: tuple[Expression, ...]
    at: int


class Map(NamedTuple):
    """A map literal."""

    entries: tuple[tuple[Expression, Expression], ...]
    at: int


class Message(NamedTuple):
    """A message literal; its fields are not checked."""

    name: Expression
    at: int


Expression: TypeAlias = Literal | Name | Select | Index | Call | List | Map | Message


def parse_expression(text: str, *, has_optionals: bool = False) -> Expression:
    """Parse an expression; raises InvalidExpression."""
    parser = _Parser(tokenize(text), has_optionals=has_optionals)
    tree = parser.expression()
    parser.expect_end()
    return tree


class _Parser:
    def __init__(self, tokens: list[Token], *, has_optionals: bool) -> None:
        self._tokens = tokens
        self._has_optionals = has_optionals
        self._at = 0
        self._depth = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _is(self, *marks: str) -> bool:
        token = self._next
        return token.text in marks and token.kind in ("mark", "name")

    def _expect(self, mark: str) -> Token:
        if not self._is(mark):
            raise self._error(f"{mark} is missing")
        return self._take()

    def _error(self, why: str) -> InvalidExpression:
        token = self._next
        shown = "the end" if token.kind == "end" else token.text
        return InvalidExpression(f"{why} before {shown}", token.at)

    def expect_end(self) -> None:
        if self._next.kind != "end":
            raise self._error("an operator is missing")

    def expression(self) -> Expression:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise InvalidExpression("it is nested too deeply", self._next.at)
        first = self._binary(1)
        if self._is("?"):
            at = self._take().at
            second = self._binary(1)
            self._expect(":")
            first = Call("?:", None, (first, second, self.expression()), at)
        self._depth -= 1
        return first

    def _binary(self, least: int) -> Expression:
        left = self._unary()
        while self._is(*_PRECEDENCE) and (binding := _PRECEDENCE[self._next.text]) >= least:
            operator = self._take()
            right = self._binary(binding + 1)
            left = _binary_call(operator, left, right)
        return left

    def _unary(self) -> Expression:
        for mark in ("!", "-"):
            if not self._is(mark):
                continue
            signs = 0
            at = self._next.at
            while self._is(mark):
                self._take()
                signs += 1
            value = self._member()
            if signs % 2 == 0:
                return value
            if mark == "-" and isinstance(value, Literal) and value.kind in ("int", "double"):
                return value
            return Call(f"{mark}_", None, (value,), at)
        return self._member()

    def _member(self) -> Expression:
        value = self._primary()
        while self._is(".", "[", "{"):
            at = self._next.at
            if self._is("{"):
                if not _is_type_name(value):
                    raise self._error("an operator is missing")
                value = self._message(value)
            elif self._take().text == ".":
                value = self._field(value, at)
            else:
                optional = self._optional()
                key = self.expression()
                self._expect("]")
                value = Index(value, key, optional, at)
        return value

    def _optional(self) -> bool:
        if self._is("?"):
            if not self._has_optionals:
                raise self._error("optional values are not supported here,")
            self._take()
            return True
        return False

    def _field(self, value: Expression, at: int) -> Expression:
        optional = self._optional()
        if self._next.kind != "name" or self._next.text == "in":
            raise self._error("the name of a field is missing")
        name = self._take()
        if not optional and self._is("("):
            return Call(name.text, value, self._arguments(), at)
        return Select(value, name.text, optional, name.at)

    def _arguments(self) -> tuple[Expression, ...]:
        self._expect("(")
        arguments = self._list(")")
        return tuple(arguments)

    def _list(self, end: str) -> list[Expression]:
        items: list[Expression] = []
        while not self._is(end):
            if end == "]":
                self._optional()
            items.append(self.expression())
            if self._is(",") and (end == "]" or self._tokens[self._at + 1].text != end):
                self._take()
            elif not self._is(end):
                raise self._error(f"{end} is missing")
        self._take()
        return items

    def _primary(self) -> Expression:
        token = self._next
        if self._is("."):
            self._take()
            if self._next.kind != "name":
                raise self._error("a name is missing")
            name = self._name_or_call()
            return name._replace(text=f".{name.text}") if isinstance(name, Name) else name
        if token.kind == "name":
            return self._name_or_call()
        if self._is("("):
            self._take()
            inner = self.expression()
            self._expect(")")
            return inner
        if self._is("["):
            self._take()
            return List(tuple(self._list("]")), token.at)
        if self._is("{"):
            self._take()
            return Map(tuple(self._entries()), token.at)
        if token.kind in ("mark", "end"):
            raise self._error("a value is missing")
        self._take()
        return Literal(token.kind, token.at)

    def _name_or_call(self) -> Expression:
        token = self._take()
        if token.text in _RESERVED:
            raise InvalidExpression(f"{token.text} is a reserved word", token.at)
        if self._is("("):
            return Call(token.text, None, self._arguments(), token.at)
        return Name(token.text, token.at)

    def _entries(self) -> list[tuple[Expression, Expression]]:
        entries = []
        while not self._is("}"):
            self._optional()
            key = self.expression()
            self._expect(":")
            entries.append((key, self.expression()))
            if self._is(","):
                self._take()
            elif not self._is("}"):
                raise self._error("} is missing")
        self._take()
        return entries

    def _message(self, name: Expression) -> Expression:
        at = self._take().at
        self._entries_of_message()
        return Message(name, at)

    def _entries_of_message(self) -> None:
        while not self._is("}"):
            self._optional()
            if self._take().kind != "name":
                raise self._error("the name of a field is missing")
            self._expect(":")
            self.expression()
            if self._is(","):
                self._take()
            elif not self._is("}"):
                raise self._error("} is missing")
        self._take()


def _binary_call(operator: Token, left: Expression, right: Expression) -> Expression:
    """Return a binary operation; a chain of && or || becomes one call."""
    if operator.text in _CHAINED and isinstance(left, Call) and left.function == operator.text:
        return left._replace(arguments=(*left.arguments, right))
    return Call(operator.text, None, (left, right), operator.at)


def _is_type_name(value: Expression) -> bool:
    while isinstance(value, Select):
        value = value.value
    return isinstance(value, Name)
