"""Overrides of the specification that containers run with: do its types take them?"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TypeAlias

from stockman.talos.patches.table import NUMBERS
from stockman.talos.validation.part import Part
from stockman.talos.validation.report import Report

Shape: TypeAlias = "str | dict[str, Shape]"
_FLOATS = ("float32", "float64")


@cache
def shapes(minor: int) -> dict[str, dict[str, Shape]]:
    """The structs of a runtime specification, by name."""
    text = files("stockman.talos.validation.types").joinpath(f"1.{minor}.json").read_text("utf-8")
    found: dict[str, dict[str, Shape]] = json.loads(text)["runtime"]
    return found


def check_runtime_spec(report: Report, overrides: Part) -> None:
    for wrong, wanted in _misfits(shapes(report.minor), {"struct": "Spec"}, overrides):
        report.error(
            "machine.runtime-spec",
            wrong,
            f"{wrong.name} does not fit",
            why=f"{wanted} is needed there",
            fix="write what the runtime specification of containers takes",
        )


def _misfits(
    known: dict[str, dict[str, Shape]], shape: Shape, part: Part
) -> list[tuple[Part, str]]:
    if not part.present or shape == "any":
        return []
    if isinstance(shape, str):
        return [] if _fits(shape, part) else [(part, _wanted(shape))]
    ((kind, inner),) = shape.items()
    if kind == "list":
        if inner == "uint8":
            return []
        if not part.is_list:
            return [(part, "a list")]
        return [one for item in part.items for one in _misfits(known, inner, item)]
    if not part.is_mapping:
        return [(part, "a mapping")]
    fields = known[str(inner)] if kind == "struct" else {}
    lower = {name.lower(): name for name in fields}
    found = []
    for key, entry in part.entries.items():
        name = key if key in fields else lower.get(key.lower(), "")
        if kind == "map":
            found += _misfits(known, inner, entry)
        elif name:
            found += _misfits(known, fields[name], entry)
    return found


def _fits(kind: str, part: Part) -> bool:
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


def _wanted(kind: str) -> str:
    if kind == "string":
        return "a text"
    return "true or false" if kind == "bool" else "a number"
