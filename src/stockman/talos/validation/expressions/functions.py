"""The functions and operators that every expression may use, with their types."""

from __future__ import annotations

from typing import NamedTuple

from stockman.talos.validation.expressions.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    A,
    B,
    Kind,
    list_of,
    map_of,
    optional_of,
    type_of,
)


class Overload(NamedTuple):
    """One form of a function; a member is called on its first argument."""

    arguments: tuple[Kind, ...]
    result: Kind
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


def _same(*kinds: Kind) -> list[Overload]:
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
            *_same(INT, UINT, DOUBLE, STRING, BYTES, list_of(A), DURATION),
            Overload((TIMESTAMP, DURATION), TIMESTAMP),
            Overload((DURATION, TIMESTAMP), TIMESTAMP),
        ],
        "-": [
            *_same(INT, UINT, DOUBLE, DURATION),
            Overload((TIMESTAMP, DURATION), TIMESTAMP),
            Overload((TIMESTAMP, TIMESTAMP), DURATION),
        ],
        "*": _same(INT, UINT, DOUBLE),
        "/": _same(INT, UINT, DOUBLE),
        "%": _same(INT, UINT),
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
