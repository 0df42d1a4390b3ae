"""Select the enabled components, build their contexts, and check them."""

from __future__ import annotations

from stockman.catalog.component import Component, ComponentContext, InputFiles
from stockman.catalog.registry import component, names
from stockman.config.language import Dialect
from stockman.config.nearest import nearest_name
from stockman.config.record_reader import ReadContext, read_record
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
    """An enabled component and its context."""

    component: Component
    context: ComponentContext


def active_components(desired: Desired) -> dict[str, str]:
    """Return the enabled components of the catalog, with the reason."""
    reasons = {}
    for name in names():
        options = desired.components.get(name)
        if options is not None and options.enabled:
            origin = options.origins.get("enabled")
            reasons[name] = (
                origin.via if origin is not None and origin.via else "enabled in the configuration"
            )
    return reasons


def select_components(
    desired: Desired, cluster: Cluster, materials: InputFiles, dialect: Dialect, problems: Problems
) -> tuple[SelectedComponent, ...]:
    """Return every enabled component; problems of their settings are reported."""
    on = active_components(desired)
    selection = []
    for name in on:
        definition = component(name)
        options = desired.components[name]
        known = known_component(name)
        settings = read_settings(definition, options, problems)
        if known is None or settings is None:
            continue
        context = ComponentContext(
            desired=desired,
            cluster=cluster,
            options=options,
            facts=known,
            settings=settings,
            materials=materials,
            dialect=dialect,
            enabled=on,
        )
        _check_needs(context, problems)
        _check_secrets(definition, context, problems)
        definition.check(context, problems)
        selection.append(SelectedComponent(component=definition, context=context))
    return tuple(selection)


def _check_needs(context: ComponentContext, problems: Problems) -> None:
    """Report missing dependencies; the configuration reports those it can position itself."""
    for need in context.facts.requires:
        if not context.is_enabled(need):
            name = context.facts.name
            problems.error(
                "component.requires",
                f"{name} needs {need}, which is disabled",
                why=f"{name} is enabled: {context.enabled[name]}",
                fix=f"set components.{need}.enabled to true, or components.{name}.enabled to false",
                at=context.options.where("enabled"),
            )


def _check_secrets(definition: Component, context: ComponentContext, problems: Problems) -> None:
    """Report unknown secrets: a misspelled name would leave the component without it."""
    regions = [str(cluster.region) for cluster in context.desired.proxmox]
    read = [
        key
        for name in definition.secrets
        for key in ([name.replace(_REGION, region) for region in regions] or [name])
    ]
    for name in context.options.secrets:
        if name in read:
            continue
        near = nearest_name(name, read)
        problems.error(
            "component.unknown-secret",
            f"{definition.name} has no secret named {name}",
            why=f"its secrets are {', '.join(dict.fromkeys(read)) or 'none'}",
            fix=f"use {near}" if near else "remove it",
            at=context.options.where("secrets"),
        )


def read_settings(definition: Component, options: Wish, problems: Problems) -> object | None:
    """Parse the settings of a component; invalid ones are reported at their line."""

    def place(path: str) -> Position:
        origin = (
            options.origins.get(path) or options.origins.get("settings") or options.origins.get("")
        )
        return origin.at if origin is not None else _NOWHERE

    tree = build_node(options.settings, "settings", place)
    if not isinstance(tree, MappingNode):
        raise TypeError("settings must be a mapping")
    path = f"components.{definition.name}.settings"
    return read_record(definition.settings, tree, ReadContext(problems), path)
