"""Where the reference pages of commands, keys, problems, components and others stand."""

from __future__ import annotations

from typing import NamedTuple

GENERATED = "reference/generated"
"""Directory of pages that are made from the code, below `docs`."""


class Place(NamedTuple):
    """A page, or a part of one."""

    page: str
    """Path below `docs`, without its suffix."""
    anchor: str = ""
    """Empty: the page itself."""


def of_command(name: str) -> Place:
    """The page of a command, `config show`; of the program for `""`."""
    return Place(f"{GENERATED}/commands/{name.replace(' ', '-') or 'index'}")


def of_key(path: str) -> Place:
    """The place of a key: sections have pages, the flat keys of cluster.yaml share one."""
    section = path.partition(".")[0]
    page = "flat" if "_" in section else section
    return Place(f"{GENERATED}/keys/{page}", f"key-{path.replace('.', '-').lower()}")


def of_problem(code: str) -> Place:
    """The page of a problem."""
    return Place(f"{GENERATED}/problems/{code}")


def is_problem(page: str) -> bool:
    """Whether a page is that of one problem, which no list of contents has."""
    directory, _, name = page.rpartition("/")
    return directory == f"{GENERATED}/problems" and name != "index"


def of_component(name: str) -> Place:
    """The page of a component."""
    return Place(f"{GENERATED}/components/{name}")


def of_preset(name: str) -> Place:
    """The place of a preset."""
    return Place(f"{GENERATED}/presets", f"preset-{name}")


def of_exit(status: int) -> Place:
    """The place of an exit code."""
    return Place(f"{GENERATED}/exit-codes", f"exit-{status}")
