"""Type hints of record classes, with their markers."""

from __future__ import annotations

from functools import cache
from typing import Any, get_type_hints


@cache
def type_hints(cls: type) -> dict[str, Any]:
    """Hints by field name; `Annotated` markers are kept."""
    return get_type_hints(cls, include_extras=True)
