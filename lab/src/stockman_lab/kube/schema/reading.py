"""Bodies of requests in JSON."""

from __future__ import annotations

import json

from stockman_lab.kube.schema.type import Json

DEEPEST = 200
"""How many levels objects and lists may be inside of one another; the real server takes 10,000."""


class Unreadable(Exception):
    """A body that is not JSON."""


class TooDeep(Exception):
    """A document that is more deeply nested than the lab takes."""


def read_json(body: bytes) -> Json:
    """The value of a body; raises `Unreadable` and `TooDeep`."""
    try:
        value: Json = json.loads(body.decode("utf-8", "replace"), parse_constant=_refuse_constant)
        check_depth(value)
    except RecursionError:
        raise TooDeep(f"the lab takes no document of more than {DEEPEST} levels") from None
    except ValueError as error:
        raise Unreadable(f"invalid JSON: {error}") from None
    return value


def check_depth(value: Json, depth: int = 0) -> None:
    """Raise `TooDeep` for a value with too many levels."""
    if depth >= DEEPEST:
        raise TooDeep(f"the lab takes no document of more than {DEEPEST} levels")
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for member in inner:
        if isinstance(member, dict | list):
            check_depth(member, depth + 1)


def _refuse_constant(text: str) -> Json:
    raise ValueError(f"{text} is not a value")
