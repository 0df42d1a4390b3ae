"""Type checker for CEL expressions."""

from __future__ import annotations

from stockman.talos.validation.cel.parser import (
    Call,
    Expression,
    Index,
    InvalidExpression,
    List,
    Literal,
    Map,
    Message,
    Name,
    Select,
    parse_expression,
)
from stockman.talos.validation.cel.types import (
    BOOL,
    DYN,
    NULL,
    PLACEHOLDERS,
    SIMPLE,
    UNBOUND,
    CelType,
    Environment,
    Overload,
    is_assignable,
    join_types,
    list_of,
    map_of,
    message_fields,
    optional_of,
    substitute_type,
    type_of,
)

_DEEPEST = 100
_CHAINED = ("&&", "||")
_COMPARISONS = ("<", "<=", ">", ">=")
_NUMBERS = ("int", "uint", "double")
_TESTS = ("all", "exists", "exists_one", "existsOne")
_TYPES = {kind.name: type_of(kind) for kind in SIMPLE} | {
    "list": type_of(list_of(DYN)),
    "map": type_of(map_of(DYN, DYN)),
    "type": type_of(type_of(DYN)),
}


class UnsupportedExpression(Exception):
    """The expression uses a part of the language that this checker does not support."""


class Checker:
    """Determines the type of an expression in one environment."""

    def __init__(self, environment: Environment, messages: dict[str, dict[str, CelType]]) -> None:
        self._environment = environment
        self._messages = messages
        self._scopes: list[dict[str, CelType]] = []
        self._depth = 0
        self._is_loose = False
        """Whether numbers of different types may be compared: Talos drops this rule after the
        first variable of a macro."""

    def kind(self, tree: Expression) -> CelType:
        """Return the type of a tree; raises InvalidExpression."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnsupportedExpression
        kind = self._kind(tree)
        self._depth -= 1
        return kind

    def _kind(self, tree: Expression) -> CelType:
        match tree:
            case Literal():
                return CelType(tree.kind)
            case Name():
                return self._variable(tree)
            case Select():
                return self._field(tree)
            case Index():
                return self._item(tree)
            case List():
                return list_of(join_types([self.kind(item) for item in tree.items]))
            case Map():
                keys = join_types([self.kind(key) for key, _ in tree.entries])
                return map_of(keys, join_types([self.kind(value) for _, value in tree.entries]))
            case Message():
                raise UnsupportedExpression
            case Call():
                return self._call(tree)

    def _variable(self, name: Name) -> CelType:
        for scope in reversed(self._scopes):
            if name.text in scope:
                return scope[name.text]
        bare = name.text.removeprefix(".")
        kind = self._environment.variables.get(bare) or _TYPES.get(bare)
        if kind is None:
            known = ", ".join(list(self._environment.variables)[:4])
            raise InvalidExpression(f"{name.text} is not defined; known are {known}", name.at)
        return kind

    def _field(self, select: Select) -> CelType:
        if _qualified_name(select).startswith(("talos.", "google.")):
            raise UnsupportedExpression
        holder = self.kind(select.value)
        optional = select.optional
        if holder.name == "optional" and self._environment.has_optionals:
            (holder,) = holder.parts
            optional = True
        kind = self._member(holder, select)
        return optional_of(kind) if optional and kind.name != "optional" else kind

    def _member(self, holder: CelType, select: Select) -> CelType:
        if holder in (DYN, UNBOUND):
            return DYN
        if holder.name == "map":
            return holder.parts[1]
        if holder.name in self._messages:
            field = self._messages[holder.name].get(select.field)
            if field is not None:
                return field
            known = ", ".join(sorted(self._messages[holder.name])[:40])
            why = f"{_short_name(holder)} has no {select.field}; it has {known}"
            raise InvalidExpression(why, select.at)
        raise InvalidExpression(f"a {_short_name(holder)} has no fields", select.at)

    def _item(self, index: Index) -> CelType:
        holder, key = self.kind(index.value), self.kind(index.key)
        optional = index.optional
        if holder == NULL and self._environment.has_optionals:
            return DYN
        if holder.name == "optional":
            (holder,) = holder.parts
            optional = True
        kind = self._resolve_call("[]", [holder, key], index.at, is_member=False)
        return optional_of(kind) if optional and kind.name != "optional" else kind

    def _call(self, call: Call) -> CelType:
        macro = self._macro(call)
        if macro is not None:
            return macro
        if call.function in _CHAINED:
            for argument in call.arguments:
                pair = [BOOL, self.kind(argument)]
                self._resolve_call(call.function, pair, call.at, is_member=False)
            return BOOL
        if call.target is None:
            arguments = [self.kind(argument) for argument in call.arguments]
            return self._resolve_call(call.function, arguments, call.at, is_member=False)
        qualified = f"{_qualified_name(call.target)}.{call.function}"
        if qualified in self._environment.functions:
            arguments = [self.kind(argument) for argument in call.arguments]
            return self._resolve_call(qualified, arguments, call.at, is_member=False)
        arguments = [self.kind(argument) for argument in (call.target, *call.arguments)]
        return self._resolve_call(call.function, arguments, call.at, is_member=True)

    def _resolve_call(
        self, function: str, arguments: list[CelType], at: int, *, is_member: bool
    ) -> CelType:
        overloads = self._environment.functions.get(function)
        if self._is_loose and function in _COMPARISONS and _are_numbers(arguments):
            return BOOL
        if overloads is None:
            raise InvalidExpression(f"there is no function {function}", at)
        results: list[CelType] = []
        for overload in overloads:
            result = _overload_result(overload, arguments, is_member=is_member)
            if result is not None and result not in results:
                results.append(result)
        if not results:
            raise InvalidExpression(_no_overload_text(function, arguments), at)
        return results[0] if len(results) == 1 else DYN

    def _macro(self, call: Call) -> CelType | None:
        """Return the type of a macro call. None: it is a function call."""
        if call.target is None:
            if call.function != "has" or len(call.arguments) != 1:
                return None
            (field,) = call.arguments
            if not isinstance(field, Select) or field.optional:
                raise InvalidExpression("has() requires a field, as in has(disk.serial)", call.at)
            self.kind(field)
            return BOOL
        count = len(call.arguments)
        if call.function in _TESTS and count == 2:
            self._check_items_macro(call, [BOOL])
            return BOOL
        if call.function == "filter" and count == 2:
            item, _ = self._check_items_macro(call, [BOOL])
            return list_of(item)
        if call.function == "map" and count in (2, 3):
            _, result = self._check_items_macro(call, [DYN] if count == 2 else [BOOL, DYN])
            return list_of(result)
        if call.function in ("optMap", "optFlatMap") and count == 2:
            return self._check_optional_macro(call)
        return None

    def _check_items_macro(self, call: Call, expected: list[CelType]) -> tuple[CelType, CelType]:
        """Return the types of the items and of the last argument of a macro over items."""
        if call.target is None:
            raise InvalidExpression(f"{call.function} needs a list or a map", call.at)
        holder = self.kind(call.target)
        if holder not in (DYN, UNBOUND) and holder.name not in ("list", "map"):
            raise InvalidExpression(f"a {_short_name(holder)} has no items", call.at)
        item = holder.parts[0] if holder.parts else DYN
        return item, self._check_with_variable(call, item, expected)

    def _check_with_variable(self, call: Call, item: CelType, expected: list[CelType]) -> CelType:
        name, *bodies = call.arguments
        if not isinstance(name, Name):
            raise InvalidExpression(f"{call.function} needs the name of a variable first", call.at)
        self._scopes.append({name.text: item})
        self._is_loose = True
        kind = DYN
        for body, required in zip(bodies, expected, strict=True):
            kind = self.kind(body)
            if not is_assignable(kind, required, {}):
                raise InvalidExpression(f"expected {required}, got {_short_name(kind)}", call.at)
        self._scopes.pop()
        return kind

    def _check_optional_macro(self, call: Call) -> CelType | None:
        if not self._environment.has_optionals or call.target is None:
            return None
        holder = self.kind(call.target)
        if holder.name != "optional" and holder != DYN:
            raise InvalidExpression(f"a {_short_name(holder)} is not optional", call.at)
        item = holder.parts[0] if holder.parts else DYN
        kind = self._check_with_variable(call, item, [DYN])
        return kind if call.function == "optFlatMap" else optional_of(kind)


def _overload_result(
    overload: Overload, arguments: list[CelType], *, is_member: bool
) -> CelType | None:
    """Return the result type of an overload. None: it does not accept the arguments."""
    if overload.is_member != is_member or len(overload.arguments) != len(arguments):
        return None
    bound: dict[CelType, CelType] = {}
    for argument, parameter in zip(arguments, overload.arguments, strict=True):
        if not is_assignable(argument, parameter, bound):
            return None
    return substitute_type(overload.result, bound)


def _are_numbers(arguments: list[CelType]) -> bool:
    return all(kind.name in _NUMBERS for kind in arguments)


def _no_overload_text(function: str, arguments: list[CelType]) -> str:
    types = " and ".join(_short_name(kind) for kind in arguments) or "nothing"
    hint = ""
    if {kind.name for kind in arguments} == {"int", "uint"}:
        hint = "; unsigned numbers are written as 10u"
    return f"{function.rstrip('_')} is not defined for {types}{hint}"


def _short_name(kind: CelType) -> str:
    if kind in PLACEHOLDERS:
        return "anything"
    name = kind.name.rpartition(".")[2]
    return (
        f"{name}({', '.join(_short_name(parameter) for parameter in kind.parts)})"
        if kind.parts
        else name
    )


def _qualified_name(tree: Expression) -> str:
    names: list[str] = []
    while isinstance(tree, Select):
        names.append(tree.field)
        tree = tree.value
    return ".".join([tree.text, *reversed(names)]) if isinstance(tree, Name) else ""


_TYPE_NAMES = {"bool": "true or false", "double": "a number with a fraction"}


def expression_error(text: str, environment: Environment, minor: int) -> str:
    """Return what is wrong with an expression. Empty: it is valid, or cannot be checked here."""
    try:
        tree = parse_expression(text, has_optionals=environment.has_optionals)
        kind = Checker(environment, message_fields(minor)).kind(tree)
    except InvalidExpression as error:
        return f"at character {error.at + 1}: {error}"
    except UnsupportedExpression:
        return ""
    if kind != environment.result:
        return f"expected {_TYPE_NAMES[environment.result.name]}, got {kind}"
    return ""
