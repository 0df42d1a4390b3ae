"""Components for people: the graph of those that are on, and all that is known of one."""

from __future__ import annotations

from pathlib import Path

from stockman.app.show import desired
from stockman.app.workspace import load_directory
from stockman.catalog.component import Component
from stockman.catalog.registry import component, names
from stockman.catalog.scene import Materials, Tunnel
from stockman.catalog.selection import selected
from stockman.config.nearest import nearest
from stockman.config.presets import Dialect
from stockman.model.components import KnownComponent
from stockman.model.components import component as known_component
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering.graph import Point, points

_NOTHING = Materials(
    age_recipient="",
    age_identity=Secret(""),
    deploy_key=Secret(""),
    webhook_token=Secret(""),
    tunnel=Tunnel(id="", token=Secret("")),
)
"""Stands for files that the graph does not depend on."""


@record
class Entry:
    """A component as the catalog defines it."""

    component: Component
    known: KnownComponent


def graph_of(directory: Path) -> tuple[Point, ...]:
    """The components of a directory that are on."""
    found = desired(directory)
    if found.cluster is None:
        return ()
    dialect: Dialect = "classic" if load_directory(directory).classic else "toml"
    return points(selected(found, found.cluster, _NOTHING, dialect, Problems()))


def entry(name: str) -> Entry:
    """All that is known of one component."""
    known = known_component(name)
    if known is None or known.name not in names():
        raise WrongUsage(_unknown(name))
    return Entry(component=component(known.name), known=known)


def _unknown(name: str) -> Problem:
    meant = nearest(name, names())
    return Problem(
        code="explain.component",
        what=f"there is no component {name!r}",
        why="no component of the catalog has that name",
        fix=(
            f"did you mean `stockman explain component {meant}`?"
            if meant
            else "`stockman explain component` lists all of them"
        ),
    )
