"""Values that do not fit the types of built-in kinds, as Go tells of them without JSON between."""

from __future__ import annotations

from stockman_lab.kube.schema.type import Json, Kind, Type

_GO = {Kind.STRING: "string", Kind.BOOLEAN: "bool", Kind.NUMBER: "float64"}


def conversion_error(made: Type, value: Json) -> str:
    """Why a tree cannot become an object of its type; empty: it can, or reading tells why not."""
    return _wrong(made, value) or ""


def _wrong(made: Type, value: Json) -> str | None:
    if value is None:
        return None
    match made.kind:
        case Kind.OBJECT:
            return _wrong_object(made, value)
        case Kind.MAP:
            return _wrong_map(made, value)
        case Kind.LIST:
            return _wrong_list(made, value)
        case Kind.STRING | Kind.BOOLEAN | Kind.NUMBER | Kind.INTEGER:
            return _wrong_scalar(made, value)
    return None


def _wrong_object(made: Type, value: Json) -> str | None:
    if not isinstance(value, dict):
        return f"cannot restore struct from: {_name(value)}"
    for name in made.fields:
        wrong = _wrong(made.fields[name].type, value.get(name))
        if wrong is not None:
            return wrong
    return None


def _wrong_map(made: Type, value: Json) -> str | None:
    if not isinstance(value, dict):
        return f"cannot restore map from {_name(value)}"
    return _first_wrong(made, list(value.values()))


def _wrong_list(made: Type, value: Json) -> str | None:
    if not isinstance(value, list):
        return f"cannot restore slice from {_name(value)}"
    return _first_wrong(made, value)


def _first_wrong(made: Type, values: list[Json]) -> str | None:
    if made.element is None:
        return None
    wrongs = (_wrong(made.element, value) for value in values)
    return next((wrong for wrong in wrongs if wrong is not None), None)


def _wrong_scalar(made: Type, value: Json) -> str | None:
    wanted = _GO.get(made.kind) or made.format or "int64"
    name = _name(value)
    numbers = {"int64", "float64", "int32"}
    if name == wanted or {name, wanted} <= numbers:
        return None
    return f"cannot convert {name} to {wanted}"


def _name(value: Json) -> str:
    if isinstance(value, dict):
        return "map"
    if isinstance(value, list):
        return "slice"
    names = {bool: "bool", str: "string", int: "int64", float: "float64"}
    return names.get(type(value), "interface")
