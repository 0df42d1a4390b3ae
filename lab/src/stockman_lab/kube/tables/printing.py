"""What the tables of many kinds share: where cells are registered, and texts of common parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from stockman_lab.kube.tables.ages import Ages

Object: TypeAlias = Mapping[str, Any]
Cells: TypeAlias = list[Any]
Printer: TypeAlias = Callable[[Object, Ages], Cells]

NONE = "<none>"
UNSET = "<unset>"

_PRINTERS: dict[str, Printer] = {}


def cells_of(*resources: str) -> Callable[[Printer], Printer]:
    """Register the cells of resources, as `apps/v1/deployments`."""

    def register(printer: Printer) -> Printer:
        for resource in resources:
            _PRINTERS[resource] = printer
        return printer

    return register


def printer_of(resource: str) -> Printer | None:
    """What makes the cells of a resource; None: it has only a name and a time."""
    return _PRINTERS.get(resource)


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
    found = at(content, *names)
    return str(found) if found not in (None, "") else default


def name_of(content: Object) -> str:
    """The name of an object."""
    return text(content, "metadata", "name")


def created(content: Object) -> object:
    """When an object was made."""
    return at(content, "metadata", "creationTimestamp")


def is_being_deleted(content: Object) -> bool:
    """Whether an object has been asked to go."""
    return bool(at(content, "metadata", "deletionTimestamp"))


def containers(spec: object) -> Cells:
    """Names and images of containers."""
    found = listed(spec, "containers")
    return [",".join(one.get(word, "") for one in found) for word in ("name", "image")]


def labels(found: Mapping[str, str] | None) -> str:
    """Labels, or that there are none."""
    if not found:
        return NONE
    return ",".join(f"{name}={found[name]}" for name in sorted(found))


def selector(found: Object | None) -> str:
    """A selector of labels, or that there is none."""
    return requirements(found) or NONE


def requirements(found: Object | None) -> str:
    """What a selector demands."""
    said = [(name, f"{name}={value}") for name, value in (at(found, "matchLabels") or {}).items()]
    said += [(one["key"], _expression(one)) for one in listed(found, "matchExpressions")]
    return ",".join(one for _, one in sorted(said))


def _expression(one: Object) -> str:
    key, values = one["key"], ",".join(sorted(listed(one, "values")))
    match one["operator"]:
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "Exists":
            return str(key)
        case _:
            return f"!{key}"


def shortened(entries: Iterable[str], most: int, between: str = ",") -> str:
    """The first entries, and how many more there are."""
    found = [*entries]
    start = between.join(found[:most])
    return f"{start} + {len(found) - most} more..." if len(found) > most else start


def condition(content: object, kind: str) -> Object | None:
    """A condition of the status of an object."""
    for one in listed(content, "status", "conditions"):
        if one.get("type") == kind:
            return one  # type: ignore[no-any-return] # conditions are objects
    return None


def is_true(content: object, kind: str) -> bool:
    """Whether a condition holds."""
    return text(condition(content, kind), "status") == "True"
