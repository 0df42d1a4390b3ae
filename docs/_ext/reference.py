"""Sphinx extension: makes the reference pages, and links inline code to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]  # it has no types of its own
from sphinx.application import Sphinx

from docs._ext import pages
from docs._ext.names import place_of


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", _write)
    app.connect("doctree-resolved", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


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
