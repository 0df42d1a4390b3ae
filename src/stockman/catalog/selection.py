"""Which components are on, what each sees, and what is wrong with that."""

from __future__ import annotations

from stockman.catalog.component import Component, ComponentContext, InputFiles
from stockman.catalog.registry import component, names
from stockman.config.nearest import nearest_name
from stockman.config.presets import Dialect
from stockman.config.reading import ReadContext
from stockman.config.record_reader import read_record
from stockman.config.source.tree import MappingNode, build_node
from stockman.model.component import Component as Wish
from stockman.model.component import find_component_facts as known_component
from stockman.model.desired import Cluster, Desired
from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.model.record import record

_NOWHERE = Position("", 0, 0)
_REGION = "REGION"


@record
class SelectedComponent:
    """A component that is on, with its surroundings."""

    component: Component
    scene: ComponentContext


def active_components(desired: Desired) -> dict[str, str]:
    """The components of the catalog that are on, with the reason."""
    found = {}
    for name in names():
        wish = desired.components.get(name)
        if wish is not None and wish.enabled:
            origin = wish.origins.get("enabled")
            found[name] = origin.via if origin is not None and origin.via else "asked for"
    return found


def select_components(
    desired: Desired, cluster: Cluster, materials: InputFiles, dialect: Dialect, problems: Problems
) -> tuple[SelectedComponent, ...]:
    """Every component that is on; problems of their settings are reported."""
    on = active_components(desired)
    found = []
    for name in on:
        definition = component(name)
        wish = desired.components[name]
        known = known_component(name)
        settings = read_settings(definition, wish, problems)
        if known is None or settings is None:
            continue
        scene = ComponentContext(
            desired=desired,
            cluster=cluster,
            wish=wish,
            known=known,
            settings=settings,
            materials=materials,
            dialect=dialect,
            enabled=on,
        )
        _check_needs(scene, problems)
        _check_secrets(definition, scene, problems)
        definition.check(scene, problems)
        found.append(SelectedComponent(component=definition, scene=scene))
    return tuple(found)


def _check_needs(scene: ComponentContext, problems: Problems) -> None:
    """Report what a component cannot do without; files say the same where they were written."""
    for need in scene.known.requires:
        if not scene.on(need):
            name = scene.known.name
            problems.error(
                "component.requires",
                f"{name} needs {need}, which is off",
                why=f"{name} is on: {scene.enabled[name]}",
                fix=f"set components.{need}.enabled to true, or components.{name}.enabled to false",
                at=scene.wish.where("enabled"),
            )


def _check_secrets(definition: Component, scene: ComponentContext, problems: Problems) -> None:
    """Report secrets that nobody reads: a misspelt name would leave the component without it."""
    regions = [str(one.region) for one in scene.desired.proxmox]
    read = [
        one
        for name in definition.secrets
        for one in ([name.replace(_REGION, region) for region in regions] or [name])
    ]
    for name in scene.wish.secrets:
        if name in read:
            continue
        near = nearest_name(name, read)
        problems.error(
            "component.unknown-secret",
            f"{definition.name} knows no secret named {name}",
            why=f"it reads {', '.join(dict.fromkeys(read)) or 'none'}",
            fix=f"write {near}" if near else "remove it",
            at=scene.wish.where("secrets"),
        )


def read_settings(definition: Component, wish: Wish, problems: Problems) -> object | None:
    """The settings of a component; what they should not hold is reported, at its line."""

    def place(path: str) -> Position:
        origin = wish.origins.get(path) or wish.origins.get("settings") or wish.origins.get("")
        return origin.at if origin is not None else _NOWHERE

    tree = build_node(wish.settings, "settings", place)
    if not isinstance(tree, MappingNode):
        raise TypeError("settings are a mapping")
    path = f"components.{definition.name}.settings"
    return read_record(definition.settings, tree, ReadContext(problems), path)
