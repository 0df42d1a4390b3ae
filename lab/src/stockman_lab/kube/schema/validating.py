"""Custom objects judged by the schemas of their kinds, in the words of the real server.

Rules in CEL (`x-kubernetes-validations`) are not evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple, cast

from stockman_lab.kube.schema.decoding import decoding_error
from stockman_lab.kube.schema.formats import has_format
from stockman_lab.kube.schema.patterns import matches
from stockman_lab.kube.schema.tables import builtin
from stockman_lab.kube.schema.type import Json, Kind, ListKind, Type

INVALID = "FieldValueInvalid"
WRONG_TYPE = "FieldValueTypeInvalid"
REQUIRED = "FieldValueRequired"
NOT_SUPPORTED = "FieldValueNotSupported"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"
DUPLICATE = "FieldValueDuplicate"

_STOPPING = frozenset({WRONG_TYPE, REQUIRED, NOT_SUPPORTED, TOO_LONG, TOO_MANY})
_NOWHERE = "<nil>"
_RULES_LEFT = (
    "Invalid value: null: some validation rules were not checked because the object was invalid;"
    " correct the existing errors to complete validation"
)
_BOUNDS = {"int32": 1 << 31, "int64": 1 << 63}


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


def violations(made: Type, value: Json) -> list[Violation]:
    """All that is wrong with a custom object whose defaults are filled in."""
    found = [*_against(made, value, "")]
    found += _repeated(made, value, "")
    if any(one.reason in _STOPPING for one in found) and _has_expressions(made.rules):
        found.append(Violation(_NOWHERE, INVALID, _RULES_LEFT))
    return found


def _has_expressions(schema: object) -> bool:
    if isinstance(schema, dict):
        return "x-kubernetes-validations" in schema or any(map(_has_expressions, schema.values()))
    return isinstance(schema, list) and any(map(_has_expressions, schema))


def _against(made: Type, value: Json, path: str) -> Iterator[Violation]:
    if not made.is_custom or (value is None and (made.nullable or made.kind is Kind.ANY)):
        return
    wrong = _wrong_type(made, value)
    if wrong:
        type_name = _type_name(value)
        yield Violation(
            path,
            WRONG_TYPE,
            f'Invalid value: "{type_name}": {path} in body must be of type {wrong}: "{type_name}"',
        )
    if made.enum and value not in made.enum:
        values = ", ".join(_said(one) for one in made.enum)
        message = f"Unsupported value: {_said(value)}: supported values: {values}"
        yield Violation(path, NOT_SUPPORTED, message)
    if wrong:
        if made.kind is Kind.INTEGER and _is_number(value):
            yield _not_checked(made, path)
        return
    match value:
        case str():
            yield from _text(made, value, path)
        case dict():
            yield from _object(made, value, path)
        case list():
            yield from _list(made, value, path)
        case int() | float() if not isinstance(value, bool):
            yield from _number(made, value, path)
    yield from _combined(made, value, path)


def _wrong_type(made: Type, value: Json) -> str:
    """The type that a value should have and has not."""
    if made.kind is Kind.ANY:
        return ""
    type_name = _type_name(value)
    wanted = {
        Kind.OBJECT: ("object",),
        Kind.MAP: ("object",),
        Kind.LIST: ("array",),
        Kind.STRING: ("string",),
        Kind.INTEGER: ("integer",),
        Kind.NUMBER: ("number", "integer"),
        Kind.BOOLEAN: ("boolean",),
        Kind.INT_OR_STRING: ("integer", "string"),
    }[made.kind]
    if type_name in wanted:
        return ""
    return ",".join(wanted) if made.kind is Kind.INT_OR_STRING else wanted[0]


def _type_name(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case float() if not value.is_integer() or abs(value) >= _BOUNDS["int64"]:
            return "number"
        case _:
            return "integer"


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _said(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _not_checked(made: Type, path: str) -> Violation:
    form = f"with format {made.format}" if made.format in _BOUNDS else "(default format)"
    message = f'Invalid value: "": Checked value must be of type integer {form} in {path}'
    return Violation(_NOWHERE, INVALID, message)


def _bound(made: Type, word: str) -> float | None:
    return cast("float | None", made.rules.get(word))


def _number(made: Type, value: float, path: str) -> Iterator[Violation]:
    def invalid(what: str) -> Violation:
        return Violation(path, INVALID, f"Invalid value: {_said(value)}: {path} in body {what}")

    bound = _BOUNDS.get(made.format)
    if made.kind is Kind.INTEGER and bound is not None and not -bound <= value < bound:
        yield _not_checked(made, path)
        return
    factor = _bound(made, "multipleOf")
    if factor is not None and value % factor:
        yield invalid(f"should be a multiple of {factor}")
    most = _bound(made, "maximum")
    if most is not None:
        if made.rules.get("exclusiveMaximum"):
            if value >= most:
                yield invalid(f"should be less than {most}")
        elif value > most:
            yield invalid(f"should be less than or equal to {most}")
    least = _bound(made, "minimum")
    if least is not None:
        if made.rules.get("exclusiveMinimum"):
            if value <= least:
                yield invalid(f"should be greater than {least}")
        elif value < least:
            yield invalid(f"should be greater than or equal to {least}")


def _text(made: Type, value: str, path: str) -> Iterator[Violation]:
    most, least = _bound(made, "maxLength"), _bound(made, "minLength")
    start = f"Invalid value: {_said(value)}: {path} in body"
    if most is not None and len(value) > most:
        yield Violation(path, TOO_LONG, f"Too long: may not be more than {most} bytes")
    elif least is not None and len(value) < least:
        yield Violation(path, INVALID, f"{start} should be at least {least} chars long")
    elif not matches(str(made.rules.get("pattern", "")), value):
        yield Violation(path, INVALID, f"{start} should match '{made.rules['pattern']}'")
    if made.format and not has_format(made.format, value):
        message = f"{start} must be of type {made.format}: {_said(value)}"
        yield Violation(path, WRONG_TYPE, message)


def _list(made: Type, value: list[Json], path: str) -> Iterator[Violation]:
    element = made.element
    if element is not None:
        for place, one in enumerate(value):
            yield from _against(element, one, f"{path}[{place}]")
    most, least = _bound(made, "maxItems"), _bound(made, "minItems")
    count = len(value)
    if least is not None and count < least:
        message = f"Invalid value: {count}: {path} in body should have at least {least} items"
        yield Violation(path, INVALID, message)
    if most is not None and count > most:
        yield Violation(path, TOO_MANY, f"Too many: {count}: must have at most {most} items")


def _object(made: Type, value: dict[str, Json], path: str) -> Iterator[Violation]:
    most, least = _bound(made, "maxProperties"), _bound(made, "minProperties")
    count = len(value)
    if least is not None and count < least:
        message = f"Invalid value: {count}: {path} in body should have at least {least} properties"
        yield Violation(path, INVALID, message)
        return
    if most is not None and count > most:
        yield Violation(path, TOO_MANY, f"Too many: {count}: must have at most {most} items")
        return
    prefix = f"{path}." if path else ""
    for name in _required(made, path):
        if name not in value:
            yield Violation(prefix + name, REQUIRED, "Required value")
    for name, one in value.items():
        below = made.below(name)
        if below is not None:
            yield from _against(below, one, prefix + name)


def _required(made: Type, path: str) -> list[str]:
    found = [*cast("list[str]", made.rules.get("required") or [])]
    if made.embedded and path:
        found += [name for name in ("apiVersion", "kind") if name not in found]
    return found


def _combined(made: Type, value: Json, path: str) -> Iterator[Violation]:
    from stockman_lab.kube.schema.structural import structural

    def tried(word: str) -> list[list[Violation]]:
        schemas = cast("list[dict[str, Json]]", made.rules.get(word) or [])
        return [[*_against(structural(schema), value, path)] for schema in schemas]

    def invalid(what: str) -> Violation:
        return Violation(_NOWHERE, INVALID, f'Invalid value: "": "{path}" {what}')

    results = tried("anyOf")
    if results and all(results):
        yield invalid("must validate at least one schema (anyOf)")
        yield from results[0]
    results = tried("oneOf")
    passed = sum(not one for one in results)
    if results and passed != 1:
        count = f"{passed} valid alternatives" if passed else "none valid"
        yield invalid(f"must validate one and only one schema (oneOf). Found {count}")
        if not passed:
            yield from results[0]
    results = [one for one in tried("allOf") if one]
    for one in results:
        yield from one
    if results:
        yield invalid("must validate all the schemas (allOf)")
    unwanted = made.rules.get("not")
    if isinstance(unwanted, dict) and not [*_against(structural(unwanted), value, path)]:
        yield invalid("must not validate the schema (not)")


def _repeated(made: Type, value: Json, path: str) -> Iterator[Violation]:
    """Entries of sets and maps that are there twice."""
    if isinstance(value, dict):
        for name, one in value.items():
            below = made.below(name)
            if below is not None and isinstance(one, dict | list):
                yield from _repeated(below, one, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and made.element is not None:
        seen: set[str] = set()
        for place, one in enumerate(value):
            key = _identity(made, one)
            if key and key in seen:
                message = f"Duplicate value: {key}"
                yield Violation(f"{path}[{place}]", DUPLICATE, message)
            seen.add(key)
            yield from _repeated(made.element, one, f"{path}[{place}]")


def _identity(made: Type, entry: Json) -> str:
    if made.list_kind is ListKind.SET:
        return _said(entry)
    if made.list_kind is ListKind.MAP and isinstance(entry, dict):
        return _said({name: entry[name] for name in made.keys if name in entry})
    return ""
