"""Pages of the problems, copied from the package."""

from __future__ import annotations

from itertools import groupby

from docs._ext.link_targets import GENERATED, of_problem
from docs._ext.markdown import code, page, table
from stockman.model.problems import problem_codes
from stockman.model.problems import problem_page as page_of

_ORPHAN = "---\norphan: true\n---\n\n"
"""Keeps hundreds of pages out of the sidebar, which is part of every page."""


def pages() -> dict[str, str]:
    """Return page texts by path below `docs`, without suffix."""
    texts = {name: page_of(name) or "" for name in problem_codes()}
    pages = {of_problem(name).page: f"{_ORPHAN}{text}\n" for name, text in texts.items()}
    return pages | {f"{GENERATED}/problems/index": _overview(texts)}


def first_sentence(text: str) -> str:
    """Return the first paragraph of a page below its title."""
    paragraphs = (paragraph.strip() for paragraph in text.split("\n\n"))
    first = next((text for text in paragraphs if text and not text.startswith("#")), "")
    return " ".join(first.split())


def _overview(texts: dict[str, str]) -> str:
    areas = groupby(texts, key=lambda name: name.partition(".")[0])
    return page(
        "# Problems",
        "",
        "Every problem has a permanent code, and a page that `stockman explain CODE` prints.",
        "[Validate files](../../../how-to/validate-files.md) explains the format of problems.",
        "",
        *(line for area, names in areas for line in _area(area, list(names), texts)),
    )


def _area(area: str, names: list[str], texts: dict[str, str]) -> list[str]:
    rows = ((code(name), first_sentence(texts[name])) for name in names)
    return [f"## {area}", "", *table(("Code", "Meaning"), rows)]
