"""Where two values of JSON differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def differences(real: Any, ours: Any, path: str = "") -> Iterator[str]:
    """One line for each place, in the order of the real one; the order of fields counts too."""
    if isinstance(real, dict) and isinstance(ours, dict):
        yield from _in_objects(real, ours, path)
    elif isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        for place, (left, right) in enumerate(zip(real, ours, strict=True)):
            yield from differences(left, right, f"{path}[{place}]")
    elif real != ours:
        yield f"{path}: real {real!r}, ours {ours!r}"


def _in_objects(real: dict[str, Any], ours: dict[str, Any], path: str) -> Iterator[str]:
    for name in {**real, **ours}:
        if name not in ours:
            yield f"{path}.{name}: real {real[name]!r}, ours has none"
        elif name not in real:
            yield f"{path}.{name}: real has none, ours {ours[name]!r}"
        else:
            yield from differences(real[name], ours[name], f"{path}.{name}")
    if real.keys() == ours.keys() and [*real] != [*ours]:
        yield f"{path}: order is {[*real]}, ours {[*ours]}"
