"""Type hints of record classes, with their markers."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any


@cache
def type_hints(cls: type) -> dict[str, Any]:
    """Return the type hints of a class by field name, with `Annotated` markers.

    Like `typing.get_type_hints`, without features that records do not use, and faster.
    """
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        hints |= _own_hints(base)
    return hints


@cache
def _own_hints(cls: type) -> dict[str, Any]:
    hints: dict[str, Any] = getattr(cls, "__annotations__", {})
    if not all(isinstance(hint, str) for hint in hints.values()):
        return hints
    # One expression for all hints: compiling each of them takes twice as long.
    source = "".join(f"({hint}), " for hint in hints.values())
    values = eval(f"({source})", vars(sys.modules[cls.__module__]))  # noqa: S307  # our own source
    return dict(zip(hints, values, strict=True))
