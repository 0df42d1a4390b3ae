"""The page with the faults of the lab."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman_lab.core.faults import FACTS, OFFERED
from stockman_lab.core.points import Effect, Point

from docs._ext.link_targets import GENERATED
from docs._ext.markdown import code, page, table
from stockman.config.reference.key_types import field_docs


def pages() -> dict[str, str]:
    """Return page texts by path below `docs`, without suffix."""
    text = page(
        "# Faults of the lab",
        "",
        "A fault is an effect at a point: `stockman lab fault POINT EFFECT`. It applies where all",
        "facts match that are given with `--match FACT=PATTERN`. Other combinations are refused.",
        "",
        "## Points",
        "",
        _points(),
        "## Effects",
        "",
        table(
            ("Effect", "What happens"),
            ((code(effect.value), _meaning(effect)) for effect in Effect),
        ),
    )
    return {f"{GENERATED}/lab-faults": text}


def _points() -> Iterator[str]:
    for point in Point:
        yield f"### {point.value}"
        yield ""
        yield _meaning(point)
        yield ""
        yield f"- effects: {_codes(effect.value for effect in Effect if effect in OFFERED[point])}"
        yield f"- facts: {_codes(FACTS[point])}"
        yield ""


def _meaning(member: Point | Effect) -> str:
    return field_docs(type(member))[member.name]


def _codes(names: Iterable[str]) -> str:
    return ", ".join(code(name) for name in names)
