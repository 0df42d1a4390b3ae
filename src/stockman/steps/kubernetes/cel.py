"""Conditions in the language CEL, judged over one object."""

from __future__ import annotations

import operator
from ast import literal_eval
from collections.abc import Callable, Mapping
from functools import cache

from stockman.kubernetes.objects import Object
from stockman.talos.validation.cel import parser
from stockman.talos.validation.cel.parser import tokenize

Scope = Mapping[str, object]
_BETWEEN: dict[str, Callable[..., object]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "%": operator.mod,
}
_OF_TEXTS: dict[str, Callable[[str, str], bool]] = {
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": str.__contains__,
}
_EACH = ("exists", "all", "filter", "map", "exists_one")
_WORDS: dict[str, object] = {"true": True, "false": False, "null": None}


class UndefinedValue(Exception):
    """An expression that has no value for an object, as a field that it needs is missing."""


class UnsupportedExpression(ValueError):
    """An expression that uses what is not known here."""


def evaluate_condition(expression: str, content: Object) -> bool:
    """Whether an expression is true of `object`; what cannot be decided is not."""
    tree, literals = _parse(expression)
    try:
        return _Evaluator(literals).value(tree, {"object": content}) is True
    except UndefinedValue:
        return False


@cache
def _parse(expression: str) -> tuple[parser.Expression, Mapping[int, object]]:
    literals = {
        one.at: _literal(one.text)
        for one in tokenize(expression)
        if one.kind not in ("name", "mark", "end")
    }
    return parser.parse_expression(expression), literals


def _literal(written: str) -> object:
    return _WORDS[written] if written in _WORDS else literal_eval(written)


class _Evaluator:
    def __init__(self, literals: Mapping[int, object]) -> None:
        self._literals = literals

    def value(self, tree: parser.Expression, scope: Scope) -> object:
        match tree:
            case parser.Literal():
                return self._literals[tree.at]
            case parser.Name():
                if tree.text in scope:
                    return scope[tree.text]
                raise UnsupportedExpression(tree.text)
            case parser.Select():
                return _field(self.value(tree.value, scope), tree.field)
            case parser.Index():
                return _item(self.value(tree.value, scope), self.value(tree.key, scope))
            case parser.List():
                return [self.value(one, scope) for one in tree.items]
            case parser.Call():
                return self._call(tree, scope)
            case _:
                raise UnsupportedExpression(type(tree).__name__)

    def _call(self, call: parser.Call, scope: Scope) -> object:
        name, target, given = call.function, call.target, call.arguments
        if name in ("&&", "||"):
            return self._chain(given, scope, stops_at=name == "||")
        if target is None and name == "has":
            return self._has(given[0], scope)
        if target is not None and name in _EACH:
            return self._each(name, self.value(target, scope), given, scope)
        if name == "?:":
            chosen = given[1] if self.value(given[0], scope) is True else given[2]
            return self.value(chosen, scope)
        values = [self.value(one, scope) for one in given]
        if target is not None:
            values.insert(0, self.value(target, scope))
        return _apply_operator(name, values)

    def _chain(self, given: tuple[parser.Expression, ...], scope: Scope, *, stops_at: bool) -> bool:
        """One side that decides is enough, even where another one has no value."""
        undecided: UndefinedValue | None = None
        for one in given:
            try:
                if self.value(one, scope) is stops_at:
                    return stops_at
            except UndefinedValue as why:
                undecided = why
        if undecided is not None:
            raise undecided
        return not stops_at

    def _has(self, tree: parser.Expression, scope: Scope) -> bool:
        if not isinstance(tree, parser.Select):
            raise UnsupportedExpression("has")
        try:
            self.value(tree, scope)
        except UndefinedValue:
            return False
        return True

    def _each(
        self, name: str, items: object, given: tuple[parser.Expression, ...], scope: Scope
    ) -> object:
        variable, inner = given[0], given[1]
        if not isinstance(variable, parser.Name):
            raise UnsupportedExpression(name)
        if not isinstance(items, list | tuple | Mapping):
            raise UndefinedValue(name)
        found = [(one, self.value(inner, {**scope, variable.text: one})) for one in items]
        match name:
            case "exists":
                return any(value is True for _, value in found)
            case "all":
                return all(value is True for _, value in found)
            case "exists_one":
                return sum(value is True for _, value in found) == 1
            case "filter":
                return [one for one, value in found if value is True]
            case _:
                return [value for _, value in found]


def _field(value: object, name: str) -> object:
    if isinstance(value, Mapping) and name in value:
        return value[name]
    raise UndefinedValue(name)


def _item(value: object, key: object) -> object:
    if isinstance(value, Mapping) and key in value:
        return value[key]
    if isinstance(value, list | tuple) and isinstance(key, int) and 0 <= key < len(value):
        return value[key]
    raise UndefinedValue(str(key))


def _apply_operator(name: str, values: list[object]) -> object:
    try:
        if name in _BETWEEN and len(values) == 2:
            return _BETWEEN[name](*values)
        if name == "in":
            return values[0] in values[1]  # type: ignore[operator]  # what is no list is Undecided
        if name == "!_":
            return values[0] is not True
        if name == "size":
            return len(values[0])  # type: ignore[arg-type]  # what has no size is Undecided
    except TypeError as why:
        raise UndefinedValue(name) from why
    if name in _OF_TEXTS and all(isinstance(one, str) for one in values):
        return _OF_TEXTS[name](str(values[0]), str(values[1]))
    raise UnsupportedExpression(name)
