"""The page of every problem code: what it means, why it matters, what to do.

The files beside this one are the registry: a code that has no page does not exist.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_SUFFIX = ".md"


@cache
def problem_codes() -> tuple[str, ...]:
    """Every problem code, in alphabetical order."""
    names = (file.name for file in _page_directory().iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def problem_page(code: str) -> str | None:
    """What a problem code means, in Markdown; None where there is no such code."""
    if code not in problem_codes():
        return None
    return _page_directory().joinpath(code + _SUFFIX).read_text(encoding="utf-8").rstrip("\n")


def _page_directory() -> Traversable:
    from importlib.resources import files

    return files(__name__)
