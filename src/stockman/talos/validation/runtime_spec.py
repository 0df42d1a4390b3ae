"""Types of overrides of the container runtime specification."""

from __future__ import annotations

import json
from functools import cache
from typing import TypeAlias

from stockman.model.package_file import read_package_text
from stockman.talos.patches.schema import NUMBERS
from stockman.talos.validation.report import ConfigValue, ValidationReport

SpecShape: TypeAlias = "str | dict[str, SpecShape]"
_FLOATS = ("float32", "float64")


@cache
def load_shapes(minor: int) -> dict[str, dict[str, SpecShape]]:
    """Return the structs of a runtime specification, by name."""
    text = read_package_text("stockman.talos.validation.types", f"1.{minor}.json")
    shapes: dict[str, dict[str, SpecShape]] = json.loads(text)["runtime"]
    return shapes


def check_runtime_spec(report: ValidationReport, overrides: ConfigValue) -> None:
    if not overrides.present:
        return
    for field, expected in _find_mismatches(
        load_shapes(report.minor), {"struct": "Spec"}, overrides
    ):
        report.error(
            "machine.runtime-spec",
            field,
            f"{field.name} is invalid",
            why=f"it must be {expected}",
            fix="use values of the container runtime specification",
        )


def _find_mismatches(
    structs: dict[str, dict[str, SpecShape]], shape: SpecShape, value: ConfigValue
) -> list[tuple[ConfigValue, str]]:
    if not value.present or shape == "any":
        return []
    if isinstance(shape, str):
        return [] if _fits(shape, value) else [(value, _expected_text(shape))]
    ((kind, inner),) = shape.items()
    if kind == "list":
        if inner == "uint8":
            return []
        if not value.is_list:
            return [(value, "a list")]
        return [
            mismatch for item in value.items for mismatch in _find_mismatches(structs, inner, item)
        ]
    if not value.is_mapping:
        return [(value, "a mapping")]
    fields = structs[str(inner)] if kind == "struct" else {}
    lower = {name.lower(): name for name in fields}
    mismatches = []
    for key, entry in value.entries.items():
        name = key if key in fields else lower.get(key.lower(), "")
        if kind == "map":
            mismatches += _find_mismatches(structs, inner, entry)
        elif name:
            mismatches += _find_mismatches(structs, fields[name], entry)
    return mismatches


def _fits(kind: str, field: ConfigValue) -> bool:
    value = field.value
    if kind == "string":
        return isinstance(value, str)
    if kind == "bool":
        return isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if kind in _FLOATS:
        return True
    least, greatest = NUMBERS.get(kind, NUMBERS["int64"])
    return float(value).is_integer() and least <= value <= greatest


def _expected_text(kind: str) -> str:
    if kind == "string":
        return "a text"
    return "true or false" if kind == "bool" else "a number"
