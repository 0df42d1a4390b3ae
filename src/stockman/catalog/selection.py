"""Which components are on, what each sees, and what is wrong with that."""

from __future__ import annotations

from stockman.catalog.component import Component
from stockman.catalog.registry import component, names
from stockman.catalog.scene import Materials, Scene
from stockman.config.nearest import nearest
from stockman.config.presets import Dialect
from stockman.config.reading import Reading
from stockman.config.source.tree import Mapping, node_of
from stockman.config.typed import typed
from stockman.model.component import Component as Wish
from stockman.model.components import component as known_component
from stockman.model.desired import Cluster, Desired
from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.model.record import record

_NOWHERE = Position("", 0, 0)
_REGION = "REGION"


@record
class Selected:
    """A component that is on, with its surroundings."""

    component: Component
    scene: Scene


def enabled(desired: Desired) -> dict[str, str]:
    """The components of the catalog that are on, with the reason."""
    found = {}
    for name in names():
        wish = desired.components.get(name)
        if wish is not None and wish.enabled:
            origin = wish.origins.get("enabled")
            found[name] = origin.via if origin is not None and origin.via else "asked for"
    return found


def selected(
    desired: Desired, cluster: Cluster, materials: Materials, dialect: Dialect, problems: Problems
) -> tuple[Selected, ...]:
    """Every component that is on; problems of their settings are reported."""
    on = enabled(desired)
    found = []
    for name in on:
        definition = component(name)
        wish = desired.components[name]
        known = known_component(name)
        settings = read_settings(definition, wish, problems)
        if known is None or settings is None:
            continue
        scene = Scene(
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
        found.append(Selected(component=definition, scene=scene))
    return tuple(found)


def _check_needs(scene: Scene, problems: Problems) -> None:
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


def _check_secrets(definition: Component, scene: Scene, problems: Problems) -> None:
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
        near = nearest(name, read)
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

    tree = node_of(wish.settings, "settings", place)
    if not isinstance(tree, Mapping):
        raise TypeError("settings are a mapping")
    path = f"components.{definition.name}.settings"
    return typed(definition.settings, tree, Reading(problems), path)
