"""Types of values in expressions."""

from __future__ import annotations

from typing import NamedTuple

_PARAMETRIZED = ("list", "map", "optional", "type")


class CelType(NamedTuple):
    """A type: its name, and the types that it is made of."""

    name: str
    parts: tuple[CelType, ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(str(part) for part in self.parts)
        return f"{self.name}({inner})" if inner else self.name


BOOL = CelType("bool")
INT = CelType("int")
UINT = CelType("uint")
DOUBLE = CelType("double")
STRING = CelType("string")
BYTES = CelType("bytes")
NULL = CelType("null_type")
DYN = CelType("dyn")
"""Anything: known only when the expression is evaluated."""
UNBOUND = CelType("_")
"""Something of which nothing is known: an item of an empty list."""
DURATION = CelType("google.protobuf.Duration")
TIMESTAMP = CelType("google.protobuf.Timestamp")
A = CelType("A")
B = CelType("B")
"""Stand in overloads for a type that is the same wherever they stand."""
PLACEHOLDERS = (A, B)
SIMPLE = (BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL, DYN)


def list_of(item: CelType) -> CelType:
    return CelType("list", (item,))


def map_of(key: CelType, value: CelType) -> CelType:
    return CelType("map", (key, value))


def optional_of(value: CelType) -> CelType:
    return CelType("optional", (value,))


def type_of(value: CelType) -> CelType:
    return CelType("type", (value,))


def parse_type(text: str) -> CelType:
    """The type of a field as the tables write it, `list(string)`."""
    name, bracket, rest = text.partition("(")
    if not bracket:
        return CelType(name)
    return CelType(name, tuple(parse_type(part) for part in rest[:-1].split(", ")))


def is_assignable(value: CelType, wanted: CelType, bound: dict[CelType, CelType]) -> bool:
    """Whether a value of a type can stand for another; `bound`: what placeholders stand for."""
    if wanted in PLACEHOLDERS:
        known = bound.setdefault(wanted, value)
        if not is_assignable(value, known, bound) and not is_assignable(known, value, bound):
            return False
        bound[wanted] = common_type(known, value)
        return True
    if UNBOUND in (value, wanted) or DYN in (value, wanted):
        return True
    if value == NULL:
        return wanted == NULL or "." in wanted.name or wanted.name == "optional"
    if value.name != wanted.name:
        return False
    if value.name == "type" or not value.parts or not wanted.parts:
        return True
    return all(
        is_assignable(one, other, bound)
        for one, other in zip(value.parts, wanted.parts, strict=True)
    )


def substitute_type(kind: CelType, bound: dict[CelType, CelType]) -> CelType:
    """A type with its placeholders replaced; one that stands for nothing is anything."""
    if kind in PLACEHOLDERS:
        return bound.get(kind, DYN)
    return CelType(kind.name, tuple(substitute_type(part, bound) for part in kind.parts))


def common_type(one: CelType, other: CelType) -> CelType:
    """The type that both fit into."""
    if UNBOUND in (one, other):
        return one if other == UNBOUND else other
    if DYN in (one, other):
        return DYN
    if NULL in (one, other):
        return one if other == NULL else other
    if len(one.parts) != len(other.parts):
        return one
    pairs = zip(one.parts, other.parts, strict=True)
    return CelType(one.name, tuple(common_type(left, right) for left, right in pairs))


def join_types(kinds: list[CelType]) -> CelType:
    """The type of the items of a list that is written out."""
    if not kinds:
        return UNBOUND
    found = kinds[0]
    for kind in kinds[1:]:
        if not is_assignable(kind, found, {}) and not is_assignable(found, kind, {}):
            return DYN
        found = common_type(found, kind)
    return found


class Overload(NamedTuple):
    """One form of a function; a member is called on its first argument."""

    arguments: tuple[CelType, ...]
    result: CelType
    is_member: bool = False


Functions = dict[str, list[Overload]]

_ORDERED = (BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION)
_MOMENT = (
    "getFullYear",
    "getMonth",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
)
_CLOCK = ("getHours", "getMinutes", "getSeconds", "getMilliseconds")
_CONVERSIONS = {
    BOOL: (BOOL, STRING),
    BYTES: (BYTES, STRING),
    DOUBLE: (DOUBLE, INT, UINT, STRING),
    INT: (INT, UINT, DOUBLE, STRING, DURATION, TIMESTAMP),
    STRING: (STRING, BOOL, INT, UINT, DOUBLE, BYTES, DURATION, TIMESTAMP),
    UINT: (UINT, INT, DOUBLE, STRING),
}


def _equality_overloads(*kinds: CelType) -> list[Overload]:
    return [Overload((kind, kind), kind) for kind in kinds]


def _operators() -> Functions:
    found: Functions = {
        "&&": [Overload((BOOL, BOOL), BOOL)],
        "||": [Overload((BOOL, BOOL), BOOL)],
        "!_": [Overload((BOOL,), BOOL)],
        "-_": [Overload((INT,), INT), Overload((DOUBLE,), DOUBLE)],
        "?:": [Overload((BOOL, A, A), A)],
        "==": [Overload((A, A), BOOL)],
        "!=": [Overload((A, A), BOOL)],
        "in": [Overload((A, list_of(A)), BOOL), Overload((A, map_of(A, B)), BOOL)],
        "+": [
            *_equality_overloads(INT, UINT, DOUBLE, STRING, BYTES, list_of(A), DURATION),
            Overload((TIMESTAMP, DURATION), TIMESTAMP),
            Overload((DURATION, TIMESTAMP), TIMESTAMP),
        ],
        "-": [
            *_equality_overloads(INT, UINT, DOUBLE, DURATION),
            Overload((TIMESTAMP, DURATION), TIMESTAMP),
            Overload((TIMESTAMP, TIMESTAMP), DURATION),
        ],
        "*": _equality_overloads(INT, UINT, DOUBLE),
        "/": _equality_overloads(INT, UINT, DOUBLE),
        "%": _equality_overloads(INT, UINT),
        "[]": [Overload((list_of(A), INT), A), Overload((map_of(A, B), A), B)],
    }
    for operator in ("<", "<=", ">", ">="):
        found[operator] = [Overload((kind, kind), BOOL) for kind in _ORDERED]
    return found


def _standard() -> Functions:
    found = _operators()
    sized = (STRING, BYTES, list_of(A), map_of(A, B))
    found["size"] = [
        Overload((kind,), INT, is_member) for kind in sized for is_member in (False, True)
    ]
    for name in ("contains", "startsWith", "endsWith", "matches"):
        found[name] = [Overload((STRING, STRING), BOOL, True)]
    found["matches"].append(Overload((STRING, STRING), BOOL))
    for result, sources in _CONVERSIONS.items():
        found[result.name] = [Overload((source,), result) for source in sources]
    found["duration"] = [Overload((kind,), DURATION) for kind in (DURATION, INT, STRING)]
    found["timestamp"] = [Overload((kind,), TIMESTAMP) for kind in (TIMESTAMP, INT, STRING)]
    found["dyn"] = [Overload((A,), DYN)]
    found["type"] = [Overload((A,), type_of(A))]
    for name in (*_MOMENT, *_CLOCK):
        found[name] = [
            Overload((TIMESTAMP,), INT, True),
            Overload((TIMESTAMP, STRING), INT, True),
        ]
    for name in _CLOCK:
        found[name].append(Overload((DURATION,), INT, True))
    return found


STANDARD = _standard()
GLOB: Functions = {"glob": [Overload((STRING, STRING), BOOL)]}
MAC: Functions = {"mac": [Overload((BYTES,), STRING)]}
OPTIONAL: Functions = {
    "optional.of": [Overload((A,), optional_of(A))],
    "optional.ofNonZeroValue": [Overload((A,), optional_of(A))],
    "optional.none": [Overload((), optional_of(A))],
    "optional.unwrap": [Overload((list_of(optional_of(A)),), list_of(A))],
    "unwrapOpt": [Overload((list_of(optional_of(A)),), list_of(A), True)],
    "value": [Overload((optional_of(A),), A, True)],
    "hasValue": [Overload((optional_of(A),), BOOL, True)],
    "or": [Overload((optional_of(A), optional_of(A)), optional_of(A), True)],
    "orValue": [Overload((optional_of(A), A), A, True)],
}
QOS: Functions = {
    "multiply_qos_vectors": [Overload((map_of(DYN, DOUBLE), map_of(DYN, DOUBLE)), DOUBLE)]
}
