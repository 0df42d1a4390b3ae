"""Evaluate conditions in the language CEL over one object."""

from __future__ import annotations

import operator
from ast import literal_eval
from collections.abc import Callable, Mapping
from functools import cache

from stockman.kubernetes.objects import Object
from stockman.talos.validation.cel import parser
from stockman.talos.validation.cel.parser import tokenize

Scope = Mapping[str, object]
_OPERATORS: dict[str, Callable[..., object]] = {
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
_STRING_METHODS: dict[str, Callable[[str, str], bool]] = {
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": str.__contains__,
}
_MACROS = ("exists", "all", "filter", "map", "exists_one")
_CONSTANTS: dict[str, object] = {"true": True, "false": False, "null": None}


class UndefinedValue(Exception):
    """An expression has no value for an object, because a field is missing."""


class UnsupportedExpression(ValueError):
    """An expression uses a function or syntax that is not supported here."""


def evaluate_condition(expression: str, content: Object) -> bool:
    """Return whether an expression is true for `object`; an undefined value is not true."""
    tree, literals = _parse(expression)
    try:
        return _Evaluator(literals).value(tree, {"object": content}) is True
    except UndefinedValue:
        return False


@cache
def _parse(expression: str) -> tuple[parser.Expression, Mapping[int, object]]:
    literals = {
        token.at: _literal(token.text)
        for token in tokenize(expression)
        if token.kind not in ("name", "mark", "end")
    }
    return parser.parse_expression(expression), literals


def _literal(text: str) -> object:
    return _CONSTANTS[text] if text in _CONSTANTS else literal_eval(text)


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
                return [self.value(item, scope) for item in tree.items]
            case parser.Call():
                return self._call(tree, scope)
            case _:
                raise UnsupportedExpression(type(tree).__name__)

    def _call(self, call: parser.Call, scope: Scope) -> object:
        name, target, arguments = call.function, call.target, call.arguments
        if name in ("&&", "||"):
            return self._chain(arguments, scope, stops_at=name == "||")
        if target is None and name == "has":
            return self._has(arguments[0], scope)
        if target is not None and name in _MACROS:
            return self._each(name, self.value(target, scope), arguments, scope)
        if name == "?:":
            chosen = arguments[1] if self.value(arguments[0], scope) is True else arguments[2]
            return self.value(chosen, scope)
        values = [self.value(argument, scope) for argument in arguments]
        if target is not None:
            values.insert(0, self.value(target, scope))
        return _apply_operator(name, values)

    def _chain(
        self, operands: tuple[parser.Expression, ...], scope: Scope, *, stops_at: bool
    ) -> bool:
        """Evaluate `&&` or `||`; one deciding operand is enough, even if others are undefined."""
        undefined: UndefinedValue | None = None
        for operand in operands:
            try:
                if self.value(operand, scope) is stops_at:
                    return stops_at
            except UndefinedValue as error:
                undefined = error
        if undefined is not None:
            raise undefined
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
        self, name: str, items: object, arguments: tuple[parser.Expression, ...], scope: Scope
    ) -> object:
        variable, inner = arguments[0], arguments[1]
        if not isinstance(variable, parser.Name):
            raise UnsupportedExpression(name)
        if not isinstance(items, list | tuple | Mapping):
            raise UndefinedValue(name)
        pairs = [(item, self.value(inner, {**scope, variable.text: item})) for item in items]
        match name:
            case "exists":
                return any(value is True for _, value in pairs)
            case "all":
                return all(value is True for _, value in pairs)
            case "exists_one":
                return sum(value is True for _, value in pairs) == 1
            case "filter":
                return [item for item, value in pairs if value is True]
            case _:
                return [value for _, value in pairs]


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
        if name in _OPERATORS and len(values) == 2:
            return _OPERATORS[name](*values)
        if name == "in":
            return values[0] in values[1]  # type: ignore[operator]  # not a list: TypeError
        if name == "!_":
            return values[0] is not True
        if name == "size":
            return len(values[0])  # type: ignore[arg-type]  # no size: TypeError
    except TypeError as error:
        raise UndefinedValue(name) from error
    if name in _STRING_METHODS and all(isinstance(value, str) for value in values):
        return _STRING_METHODS[name](str(values[0]), str(values[1]))
    raise UnsupportedExpression(name)
