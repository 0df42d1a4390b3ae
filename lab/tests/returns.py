"""Whether a reply is what the schema promises."""

from __future__ import annotations

from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.schema.shape import Part, Shape
from stockman_lab.servers.memory import MemoryClient


def misfits(shape: Shape, value: object, where: str = "data") -> list[str]:
    """What is wrong with a value, with the place of each mistake."""
    match shape.kind:
        case "string":
            fits = isinstance(value, str)
        case "integer":
            fits = isinstance(value, int) and not isinstance(value, bool)
        case "boolean":
            fits = value in (0, 1) and isinstance(value, int)
        case "number":
            fits = isinstance(value, int | float)
        case "null":
            fits = value is None
        case "array":
            return _in_array(shape, value, where)
        case "object":
            return _in_object(shape, value, where)
        case _:
            return []
    if not fits:
        return [f"{where}: {value!r} is no {shape.kind}"]
    if shape.options and str(value) not in shape.options:
        return [f"{where}: {value!r} is none of {', '.join(shape.options)}"]
    return []


def _in_array(shape: Shape, value: object, where: str) -> list[str]:
    if not isinstance(value, list):
        return [f"{where}: {value!r} is no array"]
    if shape.items is None:
        return []
    return [
        misfit
        for number, item in enumerate(value)
        for misfit in misfits(shape.items, item, f"{where}[{number}]")
    ]


def _in_object(shape: Shape, value: object, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: {value!r} is no object"]
    by_name: dict[str, Part] = dict(shape.parts or {})
    wrong = [
        f"{where}: {name} is missing"
        for name, part in by_name.items()
        if not part.optional and not part.count and name not in value
    ]
    if shape.closed:
        wrong += [f"{where}: {name} is not promised" for name in value if name not in by_name]
    for name, item in value.items():
        if name in by_name:
            wrong += misfits(by_name[name].shape, item, f"{where}.{name}")
    return wrong


def promised(client: MemoryClient, method: str, template: str, value: object) -> list[str]:
    """What of a reply is not as the operation promises."""
    schema = Schema.of(client.cluster.state.profile)
    return misfits(schema.operation(method, template).returns, value)
