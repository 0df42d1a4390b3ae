"""Types of expressions: does each part fit where it stands?"""

from __future__ import annotations

from stockman.talos.validation.cel.environments import Environment, message_fields
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
    Overload,
    is_assignable,
    join_types,
    list_of,
    map_of,
    optional_of,
    substitute_type,
    type_of,
)
from stockman.talos.validation.report import ConfigValue, ValidationReport

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
    """The expression uses a part of the language that is not looked into here."""


class Checker:
    """Finds the type of an expression in one environment."""

    def __init__(self, environment: Environment, messages: dict[str, dict[str, CelType]]) -> None:
        self._environment = environment
        self._messages = messages
        self._scopes: list[dict[str, CelType]] = []
        self._depth = 0
        self._is_loose = False
        """Whether numbers of different types may be compared: Talos forgets its rule after the
        first variable of a macro."""

    def kind(self, tree: Expression) -> CelType:
        """The type of a tree; raises WrongExpression."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnsupportedExpression
        found = self._kind(tree)
        self._depth -= 1
        return found

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
        found = self._environment.variables.get(bare) or _TYPES.get(bare)
        if found is None:
            known = ", ".join(list(self._environment.variables)[:4])
            raise InvalidExpression(f"there is no {name.text}; known are {known}", name.at)
        return found

    def _field(self, select: Select) -> CelType:
        if _qualified_name(select).startswith(("talos.", "google.")):
            raise UnsupportedExpression
        holder = self.kind(select.value)
        optional = select.optional
        if holder.name == "optional" and self._environment.has_optionals:
            (holder,) = holder.parts
            optional = True
        found = self._member(holder, select)
        return optional_of(found) if optional and found.name != "optional" else found

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
        found = self._resolved("[]", [holder, key], index.at, is_member=False)
        return optional_of(found) if optional and found.name != "optional" else found

    def _call(self, call: Call) -> CelType:
        macro = self._macro(call)
        if macro is not None:
            return macro
        if call.function in _CHAINED:
            for one in call.arguments:
                pair = [BOOL, self.kind(one)]
                self._resolved(call.function, pair, call.at, is_member=False)
            return BOOL
        if call.target is None:
            arguments = [self.kind(one) for one in call.arguments]
            return self._resolved(call.function, arguments, call.at, is_member=False)
        qualified = f"{_qualified_name(call.target)}.{call.function}"
        if qualified in self._environment.functions:
            arguments = [self.kind(one) for one in call.arguments]
            return self._resolved(qualified, arguments, call.at, is_member=False)
        arguments = [self.kind(one) for one in (call.target, *call.arguments)]
        return self._resolved(call.function, arguments, call.at, is_member=True)

    def _resolved(
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
        """The type of what is no function but is written like one. None: it is a function."""
        if call.target is None:
            if call.function != "has" or len(call.arguments) != 1:
                return None
            (tested,) = call.arguments
            if not isinstance(tested, Select) or tested.optional:
                raise InvalidExpression("has() takes a field, has(disk.serial)", call.at)
            self.kind(tested)
            return BOOL
        count = len(call.arguments)
        if call.function in _TESTS and count == 2:
            self._inside(call, [BOOL])
            return BOOL
        if call.function == "filter" and count == 2:
            item, _ = self._inside(call, [BOOL])
            return list_of(item)
        if call.function == "map" and count in (2, 3):
            _, result = self._inside(call, [DYN] if count == 2 else [BOOL, DYN])
            return list_of(result)
        if call.function in ("optMap", "optFlatMap") and count == 2:
            return self._mapped(call)
        return None

    def _inside(self, call: Call, wanted: list[CelType]) -> tuple[CelType, CelType]:
        """Types of the items, and of the last part, of a macro that looks at each item."""
        if call.target is None:
            raise InvalidExpression(f"{call.function} has nothing to go over", call.at)
        holder = self.kind(call.target)
        if holder not in (DYN, UNBOUND) and holder.name not in ("list", "map"):
            raise InvalidExpression(f"a {_short_name(holder)} has no items to go over", call.at)
        item = holder.parts[0] if holder.parts else DYN
        return item, self._scoped(call, item, wanted)

    def _scoped(self, call: Call, item: CelType, wanted: list[CelType]) -> CelType:
        name, *parts = call.arguments
        if not isinstance(name, Name):
            raise InvalidExpression(f"{call.function} takes the name of a variable first", call.at)
        self._scopes.append({name.text: item})
        self._is_loose = True
        found = DYN
        for part, kind in zip(parts, wanted, strict=True):
            found = self.kind(part)
            if not is_assignable(found, kind, {}):
                raise InvalidExpression(
                    f"{kind} is needed, and this is {_short_name(found)}", call.at
                )
        self._scopes.pop()
        return found

    def _mapped(self, call: Call) -> CelType | None:
        if not self._environment.has_optionals or call.target is None:
            return None
        holder = self.kind(call.target)
        if holder.name != "optional" and holder != DYN:
            raise InvalidExpression(f"a {_short_name(holder)} is always there", call.at)
        item = holder.parts[0] if holder.parts else DYN
        found = self._scoped(call, item, [DYN])
        return found if call.function == "optFlatMap" else optional_of(found)


def _overload_result(
    overload: Overload, arguments: list[CelType], *, is_member: bool
) -> CelType | None:
    """What a form of a function gives. None: it does not take the arguments."""
    if overload.is_member != is_member or len(overload.arguments) != len(arguments):
        return None
    bound: dict[CelType, CelType] = {}
    for argument, wanted in zip(arguments, overload.arguments, strict=True):
        if not is_assignable(argument, wanted, bound):
            return None
    return substitute_type(overload.result, bound)


def _are_numbers(arguments: list[CelType]) -> bool:
    return all(kind.name in _NUMBERS for kind in arguments)


def _no_overload_text(function: str, arguments: list[CelType]) -> str:
    told = " and ".join(_short_name(kind) for kind in arguments) or "nothing"
    hint = ""
    if {kind.name for kind in arguments} == {"int", "uint"}:
        hint = "; numbers without a sign are written 10u"
    return f"{function.rstrip('_')} does not go with {told}{hint}"


def _short_name(kind: CelType) -> str:
    if kind in PLACEHOLDERS:
        return "anything"
    name = kind.name.rpartition(".")[2]
    return f"{name}({', '.join(_short_name(part) for part in kind.parts)})" if kind.parts else name


def _qualified_name(tree: Expression) -> str:
    names: list[str] = []
    while isinstance(tree, Select):
        names.append(tree.field)
        tree = tree.value
    return ".".join([tree.text, *reversed(names)]) if isinstance(tree, Name) else ""


_TYPE_NAMES = {"bool": "true or false", "double": "a number with a fraction"}


def expression_error(text: str, environment: Environment, minor: int) -> str:
    """What is wrong with an expression. Empty: nothing, or nothing that is judged here."""
    try:
        tree = parse_expression(text, has_optionals=environment.has_optionals)
        found = Checker(environment, message_fields(minor)).kind(tree)
    except InvalidExpression as error:
        return f"at character {error.at + 1}: {error}"
    except UnsupportedExpression:
        return ""
    if found != environment.result:
        return f"it gives {found}, and {_TYPE_NAMES[environment.result.name]} is needed"
    return ""


def check_expression(report: ValidationReport, part: ConfigValue, environment: Environment) -> None:
    wrong = expression_error(part.text, environment, report.minor)
    if wrong:
        report.error(
            "machine.expression",
            part,
            f"{part.name} is no expression that Talos can use",
            why=wrong,
            fix='correct it; an example is disk.transport == "nvme" && disk.size > 100u * GB',
        )
