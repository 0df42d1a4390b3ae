"""Custom objects judged by the schemas of their kinds.

Rules in CEL (`x-kubernetes-validations`) are not evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, cast

from stockman_lab.kube.schema.decoding import decoding_error
from stockman_lab.kube.schema.tables import builtin
from stockman_lab.kube.schema.type import Json, Kind, ListKind, Type

INVALID = "FieldValueInvalid"
WRONG_TYPE = "FieldValueTypeInvalid"
REQUIRED = "FieldValueRequired"
NOT_SUPPORTED = "FieldValueNotSupported"
DUPLICATE = "FieldValueDuplicate"

_NOWHERE = "<nil>"
_TYPES = {
    Kind.OBJECT: ("object",),
    Kind.MAP: ("object",),
    Kind.LIST: ("array",),
    Kind.STRING: ("string",),
    Kind.INTEGER: ("integer",),
    Kind.NUMBER: ("number", "integer"),
    Kind.BOOLEAN: ("boolean",),
    Kind.INT_OR_STRING: ("integer", "string"),
}
_NAMES = {type(None): "null", bool: "boolean", str: "string", list: "array", dict: "object"}
_SIZES = {
    str: ("Length", "chars long"),
    list: ("Items", "items"),
    dict: ("Properties", "properties"),
}
_DATE_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)", re.ASCII
)


class Violation(NamedTuple):
    """One thing that is wrong with an object."""

    field: str
    reason: str
    message: str

    @property
    def text(self) -> str:
        """As the message of a refusal has it."""
        return f"{self.field}: {self.message}"


def metadata_error(value: Json) -> str:
    """Why the metadata of a custom object cannot be read; empty: they can."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    return decoding_error(builtin("meta.v1.ObjectMeta"), metadata)


def violations(expected: Type, value: Json) -> list[Violation]:
    """All that is wrong with a custom object whose defaults are filled in."""
    return [*_against(expected, value, ""), *_duplicates(expected, value, "")]


def _against(expected: Type, value: Json, path: str) -> Iterator[Violation]:
    if not expected.is_custom or (
        value is None and (expected.nullable or expected.kind is Kind.ANY)
    ):
        return
    name, types = _type_name(value), _TYPES.get(expected.kind, ())
    if types and name not in types:
        is_either = expected.kind is Kind.INT_OR_STRING
        desired = ",".join(types) if is_either else types[0]
        message = f'Invalid value: "{name}": {path} in body must be of type {desired}: "{name}"'
        yield Violation(path, WRONG_TYPE, message)
        return
    if expected.enum and value not in expected.enum:
        values = ", ".join(_written(choice) for choice in expected.enum)
        message = f"Unsupported value: {_written(value)}: supported values: {values}"
        yield Violation(path, NOT_SUPPORTED, message)
    for rule in _broken_rules(expected, value):
        shown = len(value) if isinstance(value, list | dict) else _written(value)
        yield Violation(path, INVALID, f"Invalid value: {shown}: {path} in body {rule}")
    if isinstance(value, dict):
        yield from _member_violations(expected, value, path)
    elif isinstance(value, list) and expected.element is not None:
        for number, entry in enumerate(value):
            yield from _against(expected.element, entry, f"{path}[{number}]")


def _type_name(value: Json) -> str:
    if isinstance(value, float) and not value.is_integer():
        return "number"
    return _NAMES.get(type(value), "integer")


def _written(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _broken_rules(expected: Type, value: Json) -> Iterator[str]:
    rules = cast("dict[str, Any]", expected.rules)
    if isinstance(value, str | list | dict):
        word, unit = _SIZES[type(value)]
        least, most = rules.get(f"min{word}", 0), rules.get(f"max{word}")
        if len(value) < least:
            yield f"should be at least {least} {unit}"
        if most is not None and len(value) > most:
            yield f"should be at most {most} {unit}"
    if isinstance(value, str):
        pattern = rules.get("pattern", "")
        if not _compile(pattern).search(value):
            yield f"should match '{pattern}'"
        if expected.format == "date-time" and not _DATE_TIME.fullmatch(value):
            yield f"must be of type date-time: {_written(value)}"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        least, most = rules.get("minimum"), rules.get("maximum")
        if least is not None and value < least:
            yield f"should be greater than or equal to {least}"
        if most is not None and value > most:
            yield f"should be less than or equal to {most}"


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern.replace(r"\z", r"\Z"), re.ASCII)
    except re.error:
        return re.compile("")


def _member_violations(expected: Type, value: dict[str, Json], path: str) -> Iterator[Violation]:
    prefix = f"{path}." if path else ""
    required = [*cast("list[str]", expected.rules.get("required") or [])]
    if expected.embedded and path:
        required += [name for name in ("apiVersion", "kind") if name not in required]
    for name in required:
        if name not in value:
            yield Violation(prefix + name, REQUIRED, "Required value")
    for name, member in value.items():
        inner = expected.below(name)
        if inner is not None:
            yield from _against(inner, member, prefix + name)


def _duplicates(expected: Type, value: Json, path: str) -> Iterator[Violation]:
    """Entries of sets and maps that are given twice."""
    if isinstance(value, dict):
        for name, member in value.items():
            inner = expected.below(name)
            if inner is not None and isinstance(member, dict | list):
                yield from _duplicates(inner, member, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and expected.element is not None:
        seen: set[str] = set()
        for number, entry in enumerate(value):
            key = _identity(expected, entry)
            if key and key in seen:
                yield Violation(f"{path}[{number}]", DUPLICATE, f"Duplicate value: {key}")
            seen.add(key)
            yield from _duplicates(expected.element, entry, f"{path}[{number}]")


def _identity(expected: Type, entry: Json) -> str:
    if expected.list_kind is ListKind.SET:
        return _written(entry)
    if expected.list_kind is ListKind.MAP and isinstance(entry, dict):
        return _written({name: entry[name] for name in expected.keys if name in entry})
    return ""
