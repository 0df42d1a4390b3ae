"""The documentation page of every problem code: what it means, why it matters, what to do.

The Markdown files in this package are the registry of problem codes.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_SUFFIX = ".md"
ENTRY_POINTS = "stockman.problems"
"""Entry point group of packages of other distributions that hold pages."""


@cache
def problem_codes() -> tuple[str, ...]:
    """Return all problem codes in alphabetical order."""
    return tuple(sorted(_pages()))


def problem_page(code: str) -> str | None:
    """Return the page of a problem code in Markdown; None: unknown code."""
    page = _pages().get(code)
    return None if page is None else page.read_text(encoding="utf-8").rstrip("\n")


@cache
def _pages() -> dict[str, Traversable]:
    """Return the page of each code, from this package and from other distributions."""
    from importlib.metadata import entry_points
    from importlib.resources import files

    packages = [__name__, *(point.value for point in entry_points(group=ENTRY_POINTS))]
    return {
        file.name.removesuffix(_SUFFIX): file
        for package in packages
        for file in files(package).iterdir()
        if file.name.endswith(_SUFFIX)
    }
