"""Property strings: `key=value` pairs between commas, read by a format and printed in one order."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stockman_lab.pve.formats.format_error import FormatError, format_errors
from stockman_lab.pve.formats.sizes import format_size
from stockman_lab.pve.property_pairs import BadPairs, read_pairs

Kind = Literal["string", "integer", "number", "boolean"]
Check: TypeAlias = Callable[[str], object]

MISSING = "property is missing and it is not optional"
UNKNOWN = "property is not defined in schema and the schema does not allow additional properties"

_NUMBER = re.compile(r"[+-]?(\d+\.\d+|\d+\.|\.\d+|\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,1000}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """What may stand under one key."""

    kind: Kind = "string"
    required: bool = False
    default_key: bool = False
    """Its value may stand alone, without the key."""
    alias: str = ""
    """The key that is meant."""
    kept_in: str = ""
    """The key whose value is the name of this one: `virtio=MAC` for `model=virtio,macaddr=MAC`."""
    enum: tuple[str, ...] = ()
    pattern: str = ""
    minimum: int | None = None
    maximum: int | None = None
    longest: int | None = None
    requires: str = ""
    check: Check | None = None
    is_size: bool = False
    """Printed by the size formatter; the value is a number of bytes."""


Format: TypeAlias = Mapping[str, Property]


def parse(
    known: Format, text: str, path: str = "", skip: Collection[str] = frozenset()
) -> dict[str, str]:
    """Values by key; raises `FormatError`. Booleans are `1` and `0`, aliases are resolved."""
    try:
        pairs = read_pairs(text, known, default_key(known), skip=skip)
    except BadPairs as error:
        raise FormatError(str(error)) from None
    errors = check_values(known, pairs, path)
    prefix = f"{path}." if path else ""
    errors |= {prefix + key: UNKNOWN for key in pairs if key not in known}
    if errors:
        raise format_errors(errors)
    return pairs


def default_key(known: Format) -> str:
    """The key whose value may stand alone, or nothing."""
    return next((key for key, what in known.items() if what.default_key), "")


def check_values(known: Format, values: Mapping[str, str], path: str = "") -> dict[str, str]:
    """What is wrong, by name of the property."""
    prefix = f"{path}." if path else ""
    errors: dict[str, str] = {}
    for key, what in known.items():
        if what.alias:
            continue
        if key not in values:
            if what.required:
                errors[prefix + key] = MISSING
            continue
        problem = value_problem(what, values[key])
        if problem:
            errors[prefix + key] = problem
    for key in sorted(values):
        needed = known[key].requires if key in known else ""
        if needed and needed not in values:
            errors[prefix + needed] = f"missing property required by '{prefix}{key}'"
    return errors


def value_problem(what: Property, value: str) -> str:
    """Why a value may not stand there, or nothing."""
    wrong_kind = f"type check ('{what.kind}') failed - got '{value}'"
    if what.kind == "boolean":
        return "" if value in ("0", "1") else wrong_kind
    if what.kind == "integer" and not _INTEGER.fullmatch(value):
        return wrong_kind
    if what.kind == "number" and not _NUMBER.fullmatch(value):
        return wrong_kind
    if what.check:
        try:
            what.check(value)
        except FormatError as error:
            return error.parameter_text
    return _bound_problem(what, value)


def _bound_problem(what: Property, value: str) -> str:
    if what.pattern and not re.search(f"^{what.pattern}$", value):
        return "value does not match the regex pattern"
    if what.longest is not None and len(value) > what.longest:
        return f"value may only be {what.longest} characters long"
    if _NUMBER.fullmatch(value):
        number = float(value)
        if what.maximum is not None and number > what.maximum:
            return f"value must have a maximum value of {what.maximum}"
        if what.minimum is not None and number < what.minimum:
            return f"value must have a minimum value of {what.minimum}"
    if what.enum and value not in what.enum:
        return f"value '{value}' does not have a value in the enumeration '{', '.join(what.enum)}'"
    return ""


def print_properties(
    known: Format, values: Mapping[str, str], skip: Collection[str] = frozenset()
) -> str:
    """The canonical text: the default key bare, then required keys, then others, each sorted."""
    errors = check_values(known, values)
    if errors:
        raise format_errors(errors)
    combined = {what.kept_in: what.alias for what in known.values() if what.kept_in}
    first = default_key(known)
    required = sorted(key for key in values if key in known and known[key].required)
    done = set(skip)
    texts: list[str] = []
    for key in (first, *required, *sorted(values)):
        if key in done or key not in values:
            continue
        done.add(key)
        text = _printed(known, key, values[key])
        partner = combined.get(key, "")
        if partner in values:
            done.add(partner)
            texts.append(f"{text}={_printed(known, partner, values[partner])}")
        else:
            texts.append(text if key == first else f"{key}={text}")
    return ",".join(texts)


def _printed(known: Format, key: str, value: str) -> str:
    what = known.get(key)
    if what is None:
        raise FormatError(f"invalid key '{key}'")
    if what.is_size:
        return format_size(int(value))
    if "," in value:
        raise FormatError(f"illegal value with commas for {key}")
    return value
