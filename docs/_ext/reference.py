"""Sphinx extension: makes the reference pages, and links inline code to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]  # it has no types of its own
from sphinx.application import Sphinx

from docs._ext import pages
from docs._ext.names import place_of
from docs._ext.places import is_problem

_BEFORE_THE_THEME = 400


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", _write)
    app.connect("doctree-resolved", _link)
    app.connect("html-page-context", _Contents(), priority=_BEFORE_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class _Contents:
    """Makes the list at the side once for all problems.

    They are many, none stands in that list, and all are in the same directory, so that it has the
    same words and links beside each of them; for every page anew it takes longer than all else.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[tuple[str, object], ...], str] = {}

    def __call__(
        self, app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
    ) -> None:
        make = context.get("toctree")
        if make is None or not is_problem(page):
            return

        def made(**wishes: object) -> str:
            key = tuple(sorted(wishes.items()))
            if key not in self._made:
                self._made[key] = make(**wishes)
            return self._made[key]

        context["toctree"] = made


def _write(app: Sphinx) -> None:
    pages.write(Path(app.srcdir))


def _link(app: Sphinx, doctree: nodes.document, page: str) -> None:
    for literal in list(doctree.findall(nodes.literal)):
        if isinstance(literal.parent, nodes.reference | nodes.title) or literal["ids"]:
            continue
        place = place_of(literal.astext())
        if place is None or (place.page == page and not place.anchor):
            continue
        address = app.builder.get_relative_uri(page, place.page)
        link = nodes.reference("", "", internal=True)
        link["refuri"] = f"{address}#{place.anchor}" if place.anchor else address
        literal.replace_self(link)
        link += literal
