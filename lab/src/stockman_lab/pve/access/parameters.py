"""Values of request parameters, whether or not they have been verified yet."""

from __future__ import annotations

from collections.abc import Mapping

from stockman_lab.pve.errors import bad_parameters
from stockman_lab.pve.formats.lists import split_list

Params = Mapping[str, object]

_TRUE = frozenset({"1", "on", "yes", "true"})


def text(params: Params, name: str) -> str | None:
    """The value as text; None: it was not sent."""
    value = params.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value)
    return str(value)


def flag(params: Params, name: str) -> bool | None:
    """The value as a yes or no; None: it was not sent."""
    value = text(params, name)
    return None if value is None else value.lower() in _TRUE


def number(params: Params, name: str) -> int | None:
    """The value as a whole number; None: it was not sent."""
    value = text(params, name)
    if value is None:
        return None
    try:
        return int(value)
    except ValueError:
        raise bad_parameters({name: f"type check ('integer') failed - got '{value}'"}) from None


def listed(params: Params, name: str) -> list[str]:
    """The items of a list in one text; empty if it was not sent."""
    return split_list(text(params, name) or "")
