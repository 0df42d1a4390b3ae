"""Schemas of object kinds, and the check of objects against them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from json import loads
from pathlib import Path
from typing import Any, NamedTuple

SHAPES = Path(__file__).parent / "shapes"
"""One file per kind, written by `scripts/write_object_schemas.py`; those of kustomize by hand."""


class KindShape(NamedTuple):
    """The schema of a kind."""

    namespaced: bool
    root: str | int
    """Shape of the object, without `apiVersion`, `kind`, `metadata` and `status`."""
    shapes: tuple[dict[str, Any], ...]
    """Shapes refer to each other by number; a text is the name of a leaf type."""


def shape_file(api_version: str, kind: str) -> str:
    """Return the path of a schema below the schema directory."""
    group, _, version = api_version.rpartition("/")
    return f"{group or 'core'}/{kind.lower()}_{version}.json"


@cache
def load_kind(api_version: str, kind: str) -> KindShape | None:
    """Return the schema of a kind. None: there is none."""
    if "." in kind or "/" in kind or api_version.startswith((".", "/")) or ".." in api_version:
        return None
    try:
        text = (SHAPES / shape_file(api_version, kind)).read_bytes()
    except (OSError, ValueError):
        return None
    schema = loads(text)
    return KindShape(
        namespaced=schema["namespaced"], root=schema["root"], shapes=tuple(schema["shapes"])
    )


SUBSTITUTED = "${"
"""A string that contains this is substituted by Flux, so it may have any value."""
_LEAVES: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "whole": (int,),
    "number": (int, float),
    "yes-no": (bool,),
    "whole-or-text": (int, float, str),
    "mapping": (dict,),
    "any": (object,),
}
_TYPE_NAMES = {
    "text": "a text",
    "whole": "a whole number",
    "number": "a number",
    "yes-no": "true or false",
    "whole-or-text": "a number or a text",
    "mapping": "a mapping",
}
Reference = str | int


class Fault(NamedTuple):
    """An invalid value in an object, and its path."""

    path: str
    why: str
    """Describes the allowed values, never the value itself: it may be a secret."""


def find_faults(value: object, kind: KindShape) -> Iterator[Fault]:
    """Return everything in an object that its kind does not allow."""
    yield from _find_faults(value, kind.root, kind, "")


def _find_faults(
    value: object, reference: Reference, kind: KindShape, path: str
) -> Iterator[Fault]:
    if isinstance(reference, str):
        yield from _check_leaf(value, reference, path)
        return
    shape = kind.shapes[reference]
    if value is None and shape.get("null"):
        return
    if "fields" in shape:
        yield from _check_mapping(value, shape, kind, path)
    elif "items" in shape:
        yield from _check_list(value, shape, kind, path)
    elif "each" in shape:
        yield from _check_items(value, shape["each"], kind, path)
    else:
        faults = tuple(_check_leaf(value, shape["is"], path))
        yield from faults
        if not faults:
            yield from _check_bounds(value, shape, path)


def _check_leaf(value: object, name: str, path: str) -> Iterator[Fault]:
    if name == "any" or _has_type(value, name):
        return
    if name != "mapping" and isinstance(value, str) and SUBSTITUTED in value:
        return
    yield Fault(path, f"the value is {_value_name(value)}, not {_TYPE_NAMES[name]}")


def _has_type(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "yes-no"
    return isinstance(value, _LEAVES[name])


def _check_mapping(
    value: object, shape: dict[str, Any], kind: KindShape, path: str
) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield Fault(path, f"the value is {_value_name(value)}, not a mapping")
        return
    fields = shape["fields"]
    for name, item in value.items():
        reference = fields.get(name)
        if reference is not None:
            yield from _find_faults(item, reference, kind, f"{path}.{name}")
        elif not shape.get("open"):
            yield Fault(f"{path}.{name}", "the field does not exist")
    for name in shape.get("needs", ()):
        if name not in value:
            yield Fault(f"{path}.{name}", "the field is missing")


def _check_list(
    value: object, shape: dict[str, Any], kind: KindShape, path: str
) -> Iterator[Fault]:
    if not isinstance(value, list):
        yield Fault(path, f"the value is {_value_name(value)}, not a list")
        return
    for index, item in enumerate(value):
        yield from _find_faults(item, shape["items"], kind, f"{path}[{index}]")
    if len(value) < shape.get("fewest", 0):
        yield Fault(
            path, f"the value has {len(value)} entries; at least {shape['fewest']} are required"
        )
    if len(value) > shape.get("many", len(value)):
        yield Fault(
            path, f"the value has {len(value)} entries; at most {shape['many']} are allowed"
        )


def _check_items(
    value: object, reference: Reference, kind: KindShape, path: str
) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield Fault(path, f"the value is {_value_name(value)}, not a mapping")
        return
    for name, item in value.items():
        yield from _find_faults(item, reference, kind, f"{path}.{name}")


def _check_bounds(value: object, shape: dict[str, Any], path: str) -> Iterator[Fault]:
    if isinstance(value, str):
        if SUBSTITUTED not in value:
            yield from _check_text(value, shape, path)
        return
    if "values" in shape and value not in shape["values"]:
        yield Fault(path, f"the value must be one of {_join_names(shape['values'])}")
    if isinstance(value, int | float):
        if value < shape.get("least", value):
            yield Fault(path, f"the value must be at least {shape['least']}")
        if value > shape.get("most", value):
            yield Fault(path, f"the value must be at most {shape['most']}")


def _check_text(value: str, shape: dict[str, Any], path: str) -> Iterator[Fault]:
    if "values" in shape and value not in shape["values"]:
        yield Fault(path, f"the value must be one of {_join_names(shape['values'])}")
    if "pattern" in shape and not _check_pattern(shape["pattern"]).search(value):
        yield Fault(path, f"the value does not match {shape['pattern']}")
    if len(value) < shape.get("shortest", 0):
        yield Fault(
            path,
            f"the value has {len(value)} characters; at least {shape['shortest']} are required",
        )
    if len(value) > shape.get("longest", len(value)):
        yield Fault(
            path, f"the value has {len(value)} characters; at most {shape['longest']} are allowed"
        )


@cache
def _check_pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def _join_names(values: list[object]) -> str:
    return ", ".join('""' if value == "" else str(value) for value in values)


def _value_name(value: object) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "a text"
    return "a number" if isinstance(value, int | float) else "a date"
