"""Texts of fields that the tables of many kinds share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Object: TypeAlias = Mapping[str, Any]
Cells: TypeAlias = list[Any]

NONE = "<none>"
UNSET = "<unset>"


def at(content: object, *names: str) -> Any:  # noqa: ANN401
    """What is below some names; None: nothing is."""
    for name in names:
        content = content.get(name) if isinstance(content, Mapping) else None
    return content


def listed(content: object, *names: str) -> list[Any]:
    """The entries of a list below some names; none where it is not there."""
    return at(content, *names) or []


def number(content: object, *names: str) -> int:
    """A number below some names; 0 where it is not there."""
    return at(content, *names) or 0


def text(content: object, *names: str, default: str = "") -> str:
    """A text below some names, or what stands for none."""
    result = at(content, *names)
    return str(result) if result not in (None, "") else default


def name_of(content: Object) -> str:
    """The name of an object."""
    return text(content, "metadata", "name")


def created(content: Object) -> object:
    """When an object was made."""
    return at(content, "metadata", "creationTimestamp")


def is_being_deleted(content: Object) -> bool:
    """Whether an object has been asked to go."""
    return bool(at(content, "metadata", "deletionTimestamp"))


def labels(result: Mapping[str, str] | None) -> str:
    """Labels, or that there are none."""
    if not result:
        return NONE
    return ",".join(f"{name}={result[name]}" for name in sorted(result))


def requirements(content: Object | None) -> str:
    """What a selector demands."""
    texts = [
        (name, f"{name}={value}") for name, value in (at(content, "matchLabels") or {}).items()
    ]
    texts += [
        (match_expression["key"], _expression(match_expression))
        for match_expression in listed(content, "matchExpressions")
    ]
    return ",".join(one for _, one in sorted(texts))


def _expression(content: Object) -> str:
    key, values = content["key"], ",".join(sorted(listed(content, "values")))
    match content["operator"]:
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "Exists":
            return str(key)
        case _:
            return f"!{key}"


def shortened(entries: Iterable[str], most: int) -> str:
    """The first entries, and how many more there are."""
    result = [*entries]
    start = ",".join(result[:most])
    return f"{start} + {len(result) - most} more..." if len(result) > most else start


def condition(content: object, kind: str) -> Object | None:
    """A condition of the status of an object."""
    for item in listed(content, "status", "conditions"):
        if item.get("type") == kind:
            return item  # type: ignore[no-any-return] # conditions are objects
    return None


def is_true(content: object, kind: str) -> bool:
    """Whether a condition holds."""
    return text(condition(content, kind), "status") == "True"
