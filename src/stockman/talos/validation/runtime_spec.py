"""Overrides of the specification that containers run with: do its types take them?"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TypeAlias

from stockman.talos.patches.schema import NUMBERS
from stockman.talos.validation.report import ConfigValue, ValidationReport

SpecShape: TypeAlias = "str | dict[str, SpecShape]"
_FLOATS = ("float32", "float64")


@cache
def load_shapes(minor: int) -> dict[str, dict[str, SpecShape]]:
    """The structs of a runtime specification, by name."""
    text = files("stockman.talos.validation.types").joinpath(f"1.{minor}.json").read_text("utf-8")
    found: dict[str, dict[str, SpecShape]] = json.loads(text)["runtime"]
    return found


def check_runtime_spec(report: ValidationReport, overrides: ConfigValue) -> None:
    for wrong, wanted in _find_mismatches(load_shapes(report.minor), {"struct": "Spec"}, overrides):
        report.error(
            "machine.runtime-spec",
            wrong,
            f"{wrong.name} does not fit",
            why=f"{wanted} is needed there",
            fix="write what the runtime specification of containers takes",
        )


def _find_mismatches(
    known: dict[str, dict[str, SpecShape]], shape: SpecShape, part: ConfigValue
) -> list[tuple[ConfigValue, str]]:
    if not part.present or shape == "any":
        return []
    if isinstance(shape, str):
        return [] if _fits(shape, part) else [(part, _expected_text(shape))]
    ((kind, inner),) = shape.items()
    if kind == "list":
        if inner == "uint8":
            return []
        if not part.is_list:
            return [(part, "a list")]
        return [one for item in part.items for one in _find_mismatches(known, inner, item)]
    if not part.is_mapping:
        return [(part, "a mapping")]
    fields = known[str(inner)] if kind == "struct" else {}
    lower = {name.lower(): name for name in fields}
    found = []
    for key, entry in part.entries.items():
        name = key if key in fields else lower.get(key.lower(), "")
        if kind == "map":
            found += _find_mismatches(known, inner, entry)
        elif name:
            found += _find_mismatches(known, fields[name], entry)
    return found


def _fits(kind: str, part: ConfigValue) -> bool:
    value = part.value
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
