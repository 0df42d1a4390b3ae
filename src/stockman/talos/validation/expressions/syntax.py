"""The words of an expression to a tree."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from stockman.talos.validation.expressions.tokens import Token, WrongExpression, tokens

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
_BINDING = {
    **dict.fromkeys(("||",), 1),
    **dict.fromkeys(("&&",), 2),
    **dict.fromkeys(("<", "<=", ">=", ">", "==", "!=", "in"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
}
"""Operators between two values, and how strongly they bind."""
_CHAINED = ("||", "&&")


class Literal(NamedTuple):
    """A value that stands there; `kind` is its type."""

    kind: str
    at: int


class Name(NamedTuple):
    """A variable, or the first word of a longer name."""

    text: str
    at: int


class Select(NamedTuple):
    """A field of something; `optional`: it may be missing."""

    value: Expression
    field: str
    optional: bool
    at: int


class Index(NamedTuple):
    """An item of something."""

    value: Expression
    key: Expression
    optional: bool
    at: int


class Call(NamedTuple):
    """A function or an operator, called on something or not."""

    function: str
    target: Expression | None
    arguments: tuple[Expression, ...]
    at: int


class List(NamedTuple):
    """A list that is written out."""

    items: tuple[Expression, ...]
    at: int


class Map(NamedTuple):
    """A map that is written out."""

    entries: tuple[tuple[Expression, Expression], ...]
    at: int


class Message(NamedTuple):
    """A message that is written out; what its fields are is not looked at."""

    name: Expression
    at: int


Expression: TypeAlias = Literal | Name | Select | Index | Call | List | Map | Message


def parsed(text: str, *, has_optionals: bool = False) -> Expression:
    """The tree of an expression; raises WrongExpression."""
    parser = _Parser(tokens(text), has_optionals=has_optionals)
    tree = parser.expression()
    parser.expect_end()
    return tree


class _Parser:
    def __init__(self, words: list[Token], *, has_optionals: bool) -> None:
        self._words = words
        self._has_optionals = has_optionals
        self._at = 0
        self._depth = 0

    @property
    def _next(self) -> Token:
        return self._words[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _is(self, *marks: str) -> bool:
        token = self._next
        return token.text in marks and token.kind in ("mark", "name")

    def _expect(self, mark: str) -> Token:
        if not self._is(mark):
            raise self._surprise(f"{mark} is missing")
        return self._take()

    def _surprise(self, why: str) -> WrongExpression:
        token = self._next
        shown = "the end" if token.kind == "end" else token.text
        return WrongExpression(f"{why} before {shown}", token.at)

    def expect_end(self) -> None:
        if self._next.kind != "end":
            raise self._surprise("an operator is missing")

    def expression(self) -> Expression:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise WrongExpression("it is nested too deeply", self._next.at)
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
        while self._is(*_BINDING) and (binding := _BINDING[self._next.text]) >= least:
            operator = self._take()
            right = self._binary(binding + 1)
            left = _joined(operator, left, right)
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
                    raise self._surprise("an operator is missing")
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
                raise self._surprise("a value that may be missing is not known here,")
            self._take()
            return True
        return False

    def _field(self, value: Expression, at: int) -> Expression:
        optional = self._optional()
        if self._next.kind != "name" or self._next.text == "in":
            raise self._surprise("the name of a field is missing")
        name = self._take()
        if not optional and self._is("("):
            return Call(name.text, value, self._arguments(), at)
        return Select(value, name.text, optional, name.at)

    def _arguments(self) -> tuple[Expression, ...]:
        self._expect("(")
        found = self._list(")")
        return tuple(found)

    def _list(self, end: str) -> list[Expression]:
        found: list[Expression] = []
        while not self._is(end):
            if end == "]":
                self._optional()
            found.append(self.expression())
            if self._is(",") and (end == "]" or self._words[self._at + 1].text != end):
                self._take()
            elif not self._is(end):
                raise self._surprise(f"{end} is missing")
        self._take()
        return found

    def _primary(self) -> Expression:
        token = self._next
        if self._is("."):
            self._take()
            if self._next.kind != "name":
                raise self._surprise("a name is missing")
            named = self._named()
            return named._replace(text=f".{named.text}") if isinstance(named, Name) else named
        if token.kind == "name":
            return self._named()
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
            raise self._surprise("a value is missing")
        self._take()
        return Literal(token.kind, token.at)

    def _named(self) -> Expression:
        token = self._take()
        if token.text in _RESERVED:
            raise WrongExpression(f"{token.text} is a reserved word", token.at)
        if self._is("("):
            return Call(token.text, None, self._arguments(), token.at)
        return Name(token.text, token.at)

    def _entries(self) -> list[tuple[Expression, Expression]]:
        found = []
        while not self._is("}"):
            self._optional()
            key = self.expression()
            self._expect(":")
            found.append((key, self.expression()))
            if self._is(","):
                self._take()
            elif not self._is("}"):
                raise self._surprise("} is missing")
        self._take()
        return found

    def _message(self, name: Expression) -> Expression:
        at = self._take().at
        self._entries_of_message()
        return Message(name, at)

    def _entries_of_message(self) -> None:
        while not self._is("}"):
            self._optional()
            if self._take().kind != "name":
                raise self._surprise("the name of a field is missing")
            self._expect(":")
            self.expression()
            if self._is(","):
                self._take()
            elif not self._is("}"):
                raise self._surprise("} is missing")
        self._take()


def _joined(operator: Token, left: Expression, right: Expression) -> Expression:
    """Two values with an operator between them; a chain of && or || is one call of many."""
    if operator.text in _CHAINED and isinstance(left, Call) and left.function == operator.text:
        return left._replace(arguments=(*left.arguments, right))
    return Call(operator.text, None, (left, right), operator.at)


def _is_type_name(value: Expression) -> bool:
    while isinstance(value, Select):
        value = value.value
    return isinstance(value, Name)
