"""How much of the API a lab answers."""

from __future__ import annotations

from stockman.model.record import record
from stockman_lab.pve.api.registry import load_endpoints
from stockman_lab.pve.schema.schema import Schema

_DEPTH = {"nodes": 2, "cluster": 1}


@record
class Area:
    """One part of the API."""

    area: str
    there: int
    all: int


@record
class Call:
    """One call of the API."""

    method: str
    path: str
    there: bool


@record
class Coverage:
    """What there is of a release."""

    profile: str
    areas: tuple[Area, ...]
    calls: tuple[Call, ...]


def coverage(profile: str) -> Coverage:
    """Every call of a release, and whether a lab answers it."""
    handlers = load_endpoints()
    calls = tuple(
        Call(method=method, path=path, there=(method, path) in handlers)
        for method, path in sorted(Schema.of(profile).operations, key=lambda one: one[::-1])
    )
    areas: dict[str, list[bool]] = {}
    for call in calls:
        areas.setdefault(_area(call.path), []).append(call.there)
    return Coverage(
        profile=profile,
        areas=tuple(
            Area(area=name, there=sum(found), all=len(found))
            for name, found in sorted(areas.items())
        ),
        calls=calls,
    )


def _area(path: str) -> str:
    texts = path.strip("/").split("/")
    return "/" + "/".join(texts[: 1 + _DEPTH.get(texts[0], 0)])
