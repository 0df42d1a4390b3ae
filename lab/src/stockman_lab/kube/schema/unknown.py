"""Fields that a type does not have, and fields that were given twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman_lab.kube.schema.reading import Doubled
from stockman_lab.kube.schema.type import Json, Kind, Type

MOST = 100
"""More complaints are not made about one object."""


def complaints(made: Type, value: Json) -> list[str]:
    """What `fieldValidation` has to say of an object, in the order in which it was written.

    `Strict` refuses it with all of them (`strict_decoding_error`), `Warn` gives one warning each.
    """
    if _is_plain(made, value):
        return []
    fromkeys = dict.fromkeys(_of_custom(made, value) if made.is_custom else _found(made, value, ""))
    return [*fromkeys][:MOST]


def _is_plain(made: Type, value: Json) -> bool:
    """Whether there is nothing to complain of: seen at once, without saying where."""
    if isinstance(value, list):
        element = made.element if made.kind is Kind.LIST else None
        if element is None:
            return not made.is_custom
        return all(_is_plain(element, one) for one in value if isinstance(one, dict | list))
    if not isinstance(value, dict):
        return True
    if isinstance(value, Doubled):
        return False
    for name, one in value.items():
        below = made.below(name)
        if below is None:
            if not made.is_open or made.is_custom:
                return False
        elif isinstance(one, dict | list) and not _is_plain(below, one):
            return False
    return True


def strict_decoding_error(texts: Iterable[str]) -> str:
    """The refusal of an object with such complaints."""
    return f"strict decoding error: {', '.join(texts)}"


def _of_custom(made: Type, value: Json) -> Iterator[str]:
    """Custom objects are read whole first, then come metadata, then all fields by their names."""
    yield from _doubled(value, "")
    found = [*_found(made, value, "")]
    unknown = [one for one in found if one.startswith("unknown")]
    own = [one for one in unknown if one.startswith('unknown field "metadata.')]
    embedded = [one for one in unknown if ".metadata." in one]
    yield from own
    yield from sorted(one for one in unknown if one not in own and one not in embedded)
    yield from embedded


def _doubled(value: Json, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        seen: set[str] = set()
        for name, one in _pairs(value):
            below = f"{path}.{name}" if path else name
            if name in seen:
                yield f'duplicate field "{below}"'
            seen.add(name)
            yield from _doubled(one, below)
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from _doubled(one, f"{path}[{place}]")


def _pairs(value: dict[str, Json]) -> Iterable[tuple[str, Json]]:
    return value.pairs if isinstance(value, Doubled) else value.items()


def _found(made: Type, value: Json, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _in_object(made, value, path)
    elif isinstance(value, list):
        element = made.element if made.kind is Kind.LIST else None
        for place, one in enumerate(value):
            if isinstance(one, dict | list) and element is not None:
                yield from _found(element, one, f"{path}[{place}]")


def _in_object(made: Type, value: dict[str, Json], path: str) -> Iterator[str]:
    prefix = f"{path}." if path else ""
    seen: set[str] = set()
    for name, one in _pairs(value):
        below = made.below(name)
        if below is None and not made.is_open:
            yield f'unknown field "{prefix}{name}"'
            continue
        if name in seen:
            yield f'duplicate field "{prefix}{name}"'
        seen.add(name)
        if below is not None and isinstance(one, dict | list):
            yield from _found(below, one, prefix + name)
