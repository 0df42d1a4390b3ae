"""The dependency graph of enabled components, and the catalog entry of one component."""

from __future__ import annotations

from pathlib import Path

from stockman.app.workspace.directory import load_directory
from stockman.app.workspace.validation import load_desired
from stockman.catalog.component import Component, InputFiles, Tunnel
from stockman.catalog.registry import component, names
from stockman.catalog.selection import select_components
from stockman.config.language import Dialect
from stockman.config.nearest import nearest_name
from stockman.model.component import ComponentFacts
from stockman.model.component import find_component_facts as known_component
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering.graph import GraphNode, graph_nodes

_NOTHING = InputFiles(
    age_recipient="",
    age_identity=Secret(""),
    deploy_key=Secret(""),
    webhook_token=Secret(""),
    tunnel=Tunnel(id="", token=Secret("")),
)
"""Placeholder for materials, which the graph does not depend on."""


@record
class CatalogEntry:
    """A component as the catalog defines it."""

    component: Component
    known: ComponentFacts


def component_graph(directory: Path) -> tuple[GraphNode, ...]:
    """Return the graph of the enabled components of a directory."""
    desired = load_desired(directory)
    if desired.cluster is None:
        return ()
    dialect: Dialect = "classic" if load_directory(directory).classic else "toml"
    return graph_nodes(select_components(desired, desired.cluster, _NOTHING, dialect, Problems()))


def catalog_entry(name: str) -> CatalogEntry:
    """Return the catalog entry of one component."""
    known = known_component(name)
    if known is None or known.name not in names():
        raise WrongUsage(_unknown(name))
    return CatalogEntry(component=component(known.name), known=known)


def _unknown(name: str) -> Problem:
    meant = nearest_name(name, names())
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
