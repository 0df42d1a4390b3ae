"""Sphinx extension: generates the reference pages, and links inline code to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]  # it has no type hints
from sphinx.application import Sphinx

from docs._ext import pages
from docs._ext.link_targets import is_problem
from docs._ext.names import link_target

_PRIORITY_BEFORE_THEME = 400


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", _write)
    app.connect("doctree-resolved", _link)
    app.connect("html-page-context", _SidebarCache(), priority=_PRIORITY_BEFORE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class _SidebarCache:
    """Renders the sidebar once for all problem pages.

    They are not in the sidebar and are all in the same directory, so it is equal on each of them.
    Rendering it for each page would take most of the build.
    """

    def __init__(self) -> None:
        self._html: dict[tuple[tuple[str, object], ...], str] = {}

    def __call__(
        self, app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
    ) -> None:
        toctree = context.get("toctree")
        if toctree is None or not is_problem(page):
            return

        def render(**options: object) -> str:
            key = tuple(sorted(options.items()))
            if key not in self._html:
                self._html[key] = toctree(**options)
            return self._html[key]

        context["toctree"] = render


def _write(app: Sphinx) -> None:
    pages.write(Path(app.srcdir))


def _link(app: Sphinx, doctree: nodes.document, page: str) -> None:
    for literal in list(doctree.findall(nodes.literal)):
        if isinstance(literal.parent, nodes.reference | nodes.title) or literal["ids"]:
            continue
        target = link_target(literal.astext())
        if target is None or (target.page == page and not target.anchor):
            continue
        address = app.builder.get_relative_uri(page, target.page)
        link = nodes.reference("", "", internal=True)
        link["refuri"] = f"{address}#{target.anchor}" if target.anchor else address
        literal.replace_self(link)
        link += literal
