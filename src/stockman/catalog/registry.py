"""All components: every folder of the catalog."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from stockman.catalog.component import Component

FACTS = "facts.json"


@cache
def names() -> tuple[str, ...]:
    """Return the names of all components, sorted."""
    folders = Path(__file__).parent.glob(f"*/{FACTS}")
    return tuple(sorted(folder.parent.name.replace("_", "-") for folder in folders))


@cache
def component(name: str) -> Component:
    """Return the definition of an existing component."""
    module = import_module(f"stockman.catalog.{name.replace('-', '_')}")
    definition = module.COMPONENT
    if not isinstance(definition, Component) or definition.name != name:
        raise TypeError(f"the folder of {name} does not define a component with this name")
    return definition


def components() -> tuple[Component, ...]:
    """Return all definitions, by name."""
    return tuple(component(name) for name in names())
