"""What can go wrong at which point, and what a matcher can ask for there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman_lab.core.points import Effect, Point

_ALL = frozenset(Effect)
_FAILS = frozenset({Effect.FAIL, Effect.DO_THEN_FAIL, Effect.DELAY, Effect.HANG})
_MACHINE = ("cluster", "vmid", "name", "machine", "address", "version")

OFFERED: dict[Point, frozenset[Effect]] = {
    Point.REQUEST: _ALL,
    Point.TASK: _FAILS | {Effect.CLAIM, Effect.KILL},
    Point.ALLOCATE: _FAILS,
    Point.DOWNLOAD: _FAILS | {Effect.CLAIM, Effect.CUT, Effect.CORRUPT, Effect.LIE},
    Point.BOOT: _FAILS - {Effect.DO_THEN_FAIL},
    Point.SHUTDOWN: frozenset({Effect.DELAY, Effect.HANG}),
    Point.AGENT: _FAILS,
    Point.RESOURCES: frozenset({Effect.LIE}),
    Point.AUTHENTICATE: frozenset({Effect.FAIL}),
    Point.HOST: frozenset({Effect.KILL}),
    Point.QUORUM: frozenset({Effect.FAIL}),
    Point.SSH: _FAILS | {Effect.CLAIM, Effect.CUT, Effect.DO_THEN_CUT},
    Point.REGISTRY: _ALL,
    Point.FACTORY: _ALL,
    Point.OBJECTS: _ALL - {Effect.CLAIM},
    Point.TALOS_CALL: _ALL - {Effect.KILL},
    Point.TALOS_STEP: frozenset({Effect.FAIL, Effect.DELAY, Effect.HANG}),
    Point.NETWORK: frozenset({Effect.FAIL}),
    Point.LEASE: frozenset({Effect.FAIL, Effect.LIE}),
    Point.ETCD: frozenset({Effect.FAIL, Effect.HANG}),
    Point.CLOCK: frozenset({Effect.LIE}),
    Point.KUBERNETES: _FAILS | {Effect.CUT, Effect.DO_THEN_CUT, Effect.LIE},
    Point.POD: frozenset({Effect.FAIL, Effect.DELAY, Effect.HANG}),
    Point.NODE: frozenset({Effect.FAIL, Effect.HANG}),
}
"""Effects by the point that knows what to do with them."""

FACTS: dict[Point, tuple[str, ...]] = {
    Point.REQUEST: ("cluster", "host", "node", "vmid", "method", "path", "user"),
    Point.TASK: ("cluster", "node", "type", "id", "vmid", "user"),
    Point.ALLOCATE: ("cluster", "node", "storage", "vmid"),
    Point.DOWNLOAD: ("cluster", "node", "storage", "url", "filename"),
    Point.BOOT: ("cluster", "node", "vmid", "name"),
    Point.SHUTDOWN: ("cluster", "node", "vmid", "name"),
    Point.AGENT: ("cluster", "node", "vmid", "command"),
    Point.RESOURCES: ("cluster",),
    Point.AUTHENTICATE: ("cluster", "host", "user"),
    Point.HOST: ("cluster", "node", "host"),
    Point.QUORUM: ("cluster",),
    Point.SSH: ("cluster", "node", "command"),
    Point.REGISTRY: ("method", "path", "repository", "reference", "client"),
    Point.FACTORY: ("method", "path"),
    Point.OBJECTS: ("method", "bucket", "key", "operation"),
    Point.TALOS_CALL: (*_MACHINE, "service", "method", "role"),
    Point.TALOS_STEP: (*_MACHINE, "step", "sequence"),
    Point.NETWORK: _MACHINE,
    Point.LEASE: (*_MACHINE, "mac"),
    Point.ETCD: (*_MACHINE, "action"),
    Point.CLOCK: _MACHINE,
    Point.KUBERNETES: (
        *_MACHINE,
        *("method", "path", "resource", "namespace", "object", "verb", "user"),
    ),
    Point.POD: (*_MACHINE, "namespace", "pod", "image", "action"),
    Point.NODE: _MACHINE,
}
"""What is known at a point, and can be asked for."""

_STATES = frozenset(
    {
        Point.RESOURCES,
        Point.HOST,
        Point.QUORUM,
        Point.NETWORK,
        Point.CLOCK,
        Point.NODE,
    }
)
"""Points that are no occasions: nothing can be counted there."""


def refuse(
    point: Point, effect: Effect, match: Mapping[str, str], *, seconds: float, skip: int
) -> None:
    """Raise `ValueError` where a fault is one that could never do what it says."""
    for why in (*_wrong_effect(point, effect, seconds), *_wrong_occasion(point, match, skip)):
        raise ValueError(why)
    if point is Point.REQUEST and effect is Effect.LIE and match.get("method") != "GET":
        raise ValueError("a lie is what reads are answered with: `method` can only be `GET`")


def _wrong_effect(point: Point, effect: Effect, seconds: float) -> Iterator[str]:
    if effect not in OFFERED[point]:
        able = [one.value for one in Effect if one in OFFERED[point]]
        yield f"`{effect.value}` means nothing at `{point.value}`, which knows {_join_words(able)}"
    if effect is Effect.DELAY and seconds <= 0:
        yield "a delay without a length (`seconds`) delays nothing"
    if point is Point.OBJECTS and effect is Effect.LIE and not seconds:
        yield "how wrong its clock is has to be said (`seconds`)"
    if point is Point.RESOURCES and seconds <= 0:
        yield "how old rows of resources are has to be said (`seconds`)"


def _wrong_occasion(point: Point, match: Mapping[str, str], skip: int) -> Iterator[str]:
    unknown = sorted(set(match) - set(FACTS[point]))
    if unknown:
        yield (
            f"nothing at `{point.value}` is called {_join_words(unknown)};"
            f" what can be asked for is {_join_words(FACTS[point])}"
        )
    if skip and point in _STATES:
        yield f"`{point.value}` is no occasion that comes again, so none can be spared (`skip`)"


def _join_words(rows: tuple[str, ...] | list[str]) -> str:
    shown = [f"`{one}`" for one in rows]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
