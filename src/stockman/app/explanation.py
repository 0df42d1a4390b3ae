"""Answers of `explain` and `graph`: configuration keys, problem codes and components."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stockman.app.workspace.directory import load_directory
from stockman.app.workspace.validation import load_desired
from stockman.catalog.component import Component, InputFiles, Tunnel
from stockman.catalog.registry import component, names
from stockman.catalog.selection import select_components
from stockman.config.former_keys import advise_on_key
from stockman.config.language import Dialect
from stockman.config.load import CLUSTER_YAML, NODES_YAML
from stockman.config.nearest import nearest_name
from stockman.config.reference.explain import Explanation, build_explanation
from stockman.config.reference.keys import Key, all_keys, find_key, flat_keys, keys_by_path
from stockman.model import problems
from stockman.model.component import ComponentFacts
from stockman.model.component import find_component_facts as known_component
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering.graph import GraphNode, graph_nodes

if TYPE_CHECKING:
    from stockman.catalog.explanation import ComponentPage

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
        raise WrongUsage(_unknown_component(name))
    return CatalogEntry(component=component(known.name), known=known)


def _unknown_component(name: str) -> Problem:
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


_SHORTEST_SETTING = len(("components", "NAME", "settings", "KEY"))


@record
class ProblemPage:
    """The page of a problem code."""

    code: str
    text: str
    """Markdown."""


@record
class TopLevel:
    """The top-level keys of a file."""

    file: str
    keys: tuple[Key, ...]


def explain(name: str, *, recursive: bool = False) -> Explanation | ProblemPage:
    """Explain a key in the spelling of either dialect, or a problem code."""
    setting = _setting(name)
    if setting is not None:
        return setting
    key = find_key(name)
    if key is not None:
        return build_explanation(key, recursive=recursive)
    text = problems.problem_page(name)
    if text is not None:
        return ProblemPage(code=name, text=text)
    raise WrongUsage(_unknown(name))


def top_level() -> tuple[TopLevel, ...]:
    """Return the files of the classic dialect with their keys; cluster.toml has them as tables."""
    sections = [key for key in all_keys() if not key.parent]
    of_cluster = tuple(key for key in sections if key.file == CLUSTER_YAML)
    return (
        TopLevel(file=CLUSTER_YAML, keys=(*flat_keys(), *of_cluster)),
        TopLevel(file=NODES_YAML, keys=tuple(key for key in sections if key.file == NODES_YAML)),
    )


def explain_component(name: str) -> ComponentPage:
    """Return the catalog entry of a component."""
    from stockman.catalog.explanation import component_page

    entry = catalog_entry(name)
    return component_page(entry.component, entry.known)


def component_pages() -> tuple[ComponentPage, ...]:
    """Return every component of the catalog."""
    from stockman.catalog.registry import names

    return tuple(explain_component(name) for name in names())


def _setting(name: str) -> Explanation | None:
    """Return a setting of a component, which only the catalog defines."""
    path = name.split(".")
    if len(path) < _SHORTEST_SETTING or path[0] != "components" or path[2] != "settings":
        return None
    from stockman.catalog.explanation import settings_keys
    from stockman.catalog.registry import component, names

    if path[1] not in names():
        return None
    keys = settings_keys(component(path[1]))
    for key in keys:
        if key.path == name:
            inside = tuple(key for key in keys if key.path.startswith(f"{name}."))
            return Explanation(key=key, recursive=False, fields=inside)
    return None


def problem_codes() -> tuple[str, ...]:
    """Return every problem code that has a page."""
    return problems.problem_codes()


def _unknown(name: str) -> Problem:
    advice = advise_on_key(name, keys_by_path())
    if advice.fix and advice.nearest is None:
        return Problem(
            code="explain.unknown",
            what=f"there is no key {name!r}",
            why=advice.reason,
            fix=advice.fix,
        )
    meant = advice.nearest or nearest_name(name, problem_codes())
    parent = _known_part(name)
    inside = f"; {parent} is the last part that is known" if parent else ""
    return Problem(
        code="explain.unknown",
        what=f"there is no key and no problem code {name!r}",
        why=f"the files know no such key{inside}",
        fix=(
            f"did you mean `stockman explain {meant}`?"
            if meant
            else f"`stockman explain{f' {parent}' if parent else ''}` lists the keys"
        ),
    )


def _known_part(name: str) -> str:
    parent = name
    while parent := parent.rpartition(".")[0]:
        key = find_key(parent)
        if key is not None:
            return key.path
    return ""
