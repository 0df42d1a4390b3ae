"""Link targets: pages and anchors of commands, keys, problems, components and others."""

from __future__ import annotations

from typing import NamedTuple

GENERATED = "reference/generated"
"""Directory of the generated pages, below `docs`."""


class LinkTarget(NamedTuple):
    """A page, or an anchor in it."""

    page: str
    """Path below `docs`, without its suffix."""
    anchor: str = ""
    """Empty: the page itself."""


def of_command(name: str) -> LinkTarget:
    """Return the page of a command, `config show`; for `""`, the list of commands."""
    return LinkTarget(f"{GENERATED}/commands/{name.replace(' ', '-') or 'index'}")


def of_key(path: str) -> LinkTarget:
    """Return the anchor of a key: each section has a page, flat keys share one."""
    section = path.partition(".")[0]
    page = "flat" if "_" in section else section
    return LinkTarget(f"{GENERATED}/keys/{page}", f"key-{path.replace('.', '-').lower()}")


def of_problem(code: str) -> LinkTarget:
    """Return the page of a problem."""
    return LinkTarget(f"{GENERATED}/problems/{code}")


def is_problem(page: str) -> bool:
    """Whether a page is about one problem, and so in no table of contents."""
    directory, _, name = page.rpartition("/")
    return directory == f"{GENERATED}/problems" and name != "index"


def of_component(name: str) -> LinkTarget:
    """Return the page of a component."""
    return LinkTarget(f"{GENERATED}/components/{name}")


def of_preset(name: str) -> LinkTarget:
    """Return the anchor of a preset."""
    return LinkTarget(f"{GENERATED}/presets", f"preset-{name}")


def of_exit(status: int) -> LinkTarget:
    """Return the anchor of an exit code."""
    return LinkTarget(f"{GENERATED}/exit-codes", f"exit-{status}")
