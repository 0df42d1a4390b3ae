"""Pages of the problems, as the package holds them."""

from __future__ import annotations

from itertools import groupby

from docs._ext.markdown import code, page, table
from docs._ext.places import GENERATED, of_problem
from stockman.model.problems import problem_codes
from stockman.model.problems import problem_page as page_of

_ASIDE = "---\norphan: true\n---\n\n"
"""Keeps more than a hundred pages out of the list at the side, which every page repeats."""


def pages() -> dict[str, str]:
    """Page texts by path below `docs`, without suffix."""
    texts = {name: page_of(name) or "" for name in problem_codes()}
    found = {of_problem(name).page: f"{_ASIDE}{text}\n" for name, text in texts.items()}
    return found | {f"{GENERATED}/problems/index": _overview(texts)}


def first_sentence(text: str) -> str:
    """What a page says first, below its title."""
    paragraphs = [part.strip() for part in text.split("\n\n")]
    first = next((part for part in paragraphs if part and not part.startswith("#")), "")
    return " ".join(first.split())


def _overview(texts: dict[str, str]) -> str:
    areas = groupby(texts, key=lambda name: name.partition(".")[0])
    return page(
        "# Problems",
        "",
        "Every problem has a code that stays the same for ever, and a page that",
        "`stockman explain CODE` prints too.",
        "[](../../../how-to/validate-files.md) explains their format.",
        "",
        *(line for area, names in areas for line in _area(area, list(names), texts)),
    )


def _area(area: str, names: list[str], texts: dict[str, str]) -> list[str]:
    rows = ((code(name), first_sentence(texts[name])) for name in names)
    return [f"## {area}", "", *table(("Code", "What it says"), rows)]
