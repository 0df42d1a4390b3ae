"""Types of CEL values, overloads of functions and operators, and the variables by purpose."""

from __future__ import annotations

import json
from functools import cache
from typing import NamedTuple

from stockman.model.package_file import read_package_text
from stockman.model.record import record


class CelType(NamedTuple):
    """A type: its name and type parameters."""

    name: str
    parts: tuple[CelType, ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(str(parameter) for parameter in self.parts)
        return f"{self.name}({inner})" if inner else self.name


BOOL = CelType("bool")
INT = CelType("int")
UINT = CelType("uint")
DOUBLE = CelType("double")
STRING = CelType("string")
BYTES = CelType("bytes")
NULL = CelType("null_type")
DYN = CelType("dyn")
"""Any type: known only at evaluation."""
UNBOUND = CelType("_")
"""An unknown type: that of the items of an empty list."""
DURATION = CelType("google.protobuf.Duration")
TIMESTAMP = CelType("google.protobuf.Timestamp")
A = CelType("A")
B = CelType("B")
"""Type parameters of overloads; each occurrence is the same type."""
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
    """Parse the type of a field, such as `list(string)`."""
    name, bracket, parameters = text.partition("(")
    if not bracket:
        return CelType(name)
    return CelType(name, tuple(parse_type(parameter) for parameter in parameters[:-1].split(", ")))


def is_assignable(value: CelType, target: CelType, bound: dict[CelType, CelType]) -> bool:
    """Whether a value type fits a target type; `bound` maps type parameters to types."""
    if target in PLACEHOLDERS:
        known = bound.setdefault(target, value)
        if not is_assignable(value, known, bound) and not is_assignable(known, value, bound):
            return False
        bound[target] = common_type(known, value)
        return True
    if UNBOUND in (value, target) or DYN in (value, target):
        return True
    if value == NULL:
        return target == NULL or "." in target.name or target.name == "optional"
    if value.name != target.name:
        return False
    if value.name == "type" or not value.parts or not target.parts:
        return True
    return all(
        is_assignable(parameter, target_parameter, bound)
        for parameter, target_parameter in zip(value.parts, target.parts, strict=True)
    )


def substitute_type(kind: CelType, bound: dict[CelType, CelType]) -> CelType:
    """Replace type parameters; an unbound one becomes the dynamic type."""
    if kind in PLACEHOLDERS:
        return bound.get(kind, DYN)
    return CelType(kind.name, tuple(substitute_type(parameter, bound) for parameter in kind.parts))


def common_type(first: CelType, second: CelType) -> CelType:
    """Return the type that both types fit into."""
    if UNBOUND in (first, second):
        return first if second == UNBOUND else second
    if DYN in (first, second):
        return DYN
    if NULL in (first, second):
        return first if second == NULL else second
    if len(first.parts) != len(second.parts):
        return first
    pairs = zip(first.parts, second.parts, strict=True)
    return CelType(first.name, tuple(common_type(left, right) for left, right in pairs))


def join_types(kinds: list[CelType]) -> CelType:
    """Return the item type of a list literal."""
    if not kinds:
        return UNBOUND
    joined = kinds[0]
    for kind in kinds[1:]:
        if not is_assignable(kind, joined, {}) and not is_assignable(joined, kind, {}):
            return DYN
        joined = common_type(joined, kind)
    return joined


class Overload(NamedTuple):
    """One signature of a function; a member is called on its first argument."""

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
    functions: Functions = {
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
        functions[operator] = [Overload((kind, kind), BOOL) for kind in _ORDERED]
    return functions


def _standard() -> Functions:
    functions = _operators()
    containers = (STRING, BYTES, list_of(A), map_of(A, B))
    functions["size"] = [
        Overload((kind,), INT, is_member) for kind in containers for is_member in (False, True)
    ]
    for name in ("contains", "startsWith", "endsWith", "matches"):
        functions[name] = [Overload((STRING, STRING), BOOL, True)]
    functions["matches"].append(Overload((STRING, STRING), BOOL))
    for result, sources in _CONVERSIONS.items():
        functions[result.name] = [Overload((source,), result) for source in sources]
    functions["duration"] = [Overload((kind,), DURATION) for kind in (DURATION, INT, STRING)]
    functions["timestamp"] = [Overload((kind,), TIMESTAMP) for kind in (TIMESTAMP, INT, STRING)]
    functions["dyn"] = [Overload((A,), DYN)]
    functions["type"] = [Overload((A,), type_of(A))]
    for name in (*_MOMENT, *_CLOCK):
        functions[name] = [
            Overload((TIMESTAMP,), INT, True),
            Overload((TIMESTAMP, STRING), INT, True),
        ]
    for name in _CLOCK:
        functions[name].append(Overload((DURATION,), INT, True))
    return functions


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


_BLOCK = "talos.resource.definitions.block"
_DISK = CelType(f"{_BLOCK}.DiskSpec")
_VOLUME = CelType(f"{_BLOCK}.DiscoveredVolumeSpec")
_LINK = CelType("talos.resource.definitions.network.LinkStatusSpec")
_UNITS = dict.fromkeys(
    ("KiB", "kB", *(f"{letter}{unit}" for letter in "MGTPE" for unit in ("iB", "B"))), UINT
)
_CLASSES = dict.fromkeys(("Besteffort", "Burstable", "Guaranteed", "Podruntime", "System"), INT)
_PRESSURE = [
    f"memory_{share}_{span}"
    for share in ("some", "full")
    for span in ("avg10", "avg60", "avg300", "total")
]
_USAGE = ("memory_current", "memory_peak", "memory_max")
_BY_CLASS = map_of(INT, DOUBLE)


@record
class Environment:
    """Variables and functions of one purpose, and the required result type."""

    variables: dict[str, CelType]
    functions: Functions
    result: CelType
    has_optionals: bool = False


def _pressure_variables() -> dict[str, CelType]:
    variables = {f"{delta}{name}": DOUBLE for name in _PRESSURE for delta in ("", "d_")}
    variables |= {
        f"{delta}qos_{name}": _BY_CLASS for name in (*_PRESSURE, *_USAGE) for delta in ("", "d_")
    }
    return variables


DISK = Environment(
    variables={"disk": _DISK, "system_disk": BOOL, **_UNITS},
    functions={**STANDARD, **GLOB},
    result=BOOL,
)
VOLUME = Environment(
    variables={"volume": _VOLUME, "disk": _DISK, **_UNITS}, functions=STANDARD, result=BOOL
)
MEMBER = Environment(
    variables={
        "volume": _VOLUME,
        "disk": _DISK,
        "volume_id": STRING,
        "system_disk": BOOL,
        **_UNITS,
    },
    functions={**STANDARD, **GLOB},
    result=BOOL,
)
LINK = Environment(variables={"link": _LINK}, functions={**STANDARD, **GLOB, **MAC}, result=BOOL)
OOM_TRIGGER = Environment(
    variables={**_pressure_variables(), "time_since_trigger": DURATION, **_UNITS, **_CLASSES},
    functions={**STANDARD, **OPTIONAL, **QOS},
    result=BOOL,
    has_optionals=True,
)
OOM_RANKING = Environment(
    variables={
        **{name: optional_of(UINT) for name in _USAGE},
        "path": STRING,
        "class": INT,
        **_UNITS,
        **_CLASSES,
    },
    functions={**STANDARD, **OPTIONAL},
    result=DOUBLE,
    has_optionals=True,
)
ENVIRONMENTS = {
    "disk": DISK,
    "link": LINK,
    "member": MEMBER,
    "oom-ranking": OOM_RANKING,
    "oom-trigger": OOM_TRIGGER,
    "volume": VOLUME,
}


@cache
def message_fields(minor: int) -> dict[str, dict[str, CelType]]:
    """Return the fields of every message that expressions may access in a minor."""
    text = read_package_text("stockman.talos.validation.types", f"1.{minor}.json")
    return {
        name: {field: parse_type(kind) for field, kind in fields.items()}
        for name, fields in json.loads(text)["messages"].items()
    }
