"""The page of what can go wrong in the lab."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman_lab.core.offered import FACTS, OFFERED
from stockman_lab.core.points import Effect, Point

from docs._ext.markdown import code, page, table
from docs._ext.places import GENERATED
from stockman.config.reference.key_types import field_docs


def pages() -> dict[str, str]:
    """Page texts by path below `docs`, without suffix."""
    text = page(
        "# Faults of the lab",
        "",
        "A fault is an effect at a point, as `stockman lab fault POINT EFFECT` sets it. It strikes",
        "where every fact that is asked for with `--match FACT=PATTERN` fits. What is not listed",
        "for a point is refused there.",
        "",
        "## Points",
        "",
        _points(),
        "## Effects",
        "",
        table(("Effect", "What happens"), ((code(one.value), _meaning(one)) for one in Effect)),
    )
    return {f"{GENERATED}/lab-faults": text}


def _points() -> Iterator[str]:
    for point in Point:
        yield f"### {point.value}"
        yield ""
        yield _meaning(point)
        yield ""
        yield f"- effects: {_codes(one.value for one in Effect if one in OFFERED[point])}"
        yield f"- facts: {_codes(FACTS[point])}"
        yield ""


def _meaning(one: Point | Effect) -> str:
    return field_docs(type(one))[one.name]


def _codes(words: Iterable[str]) -> str:
    return ", ".join(code(word) for word in words)
