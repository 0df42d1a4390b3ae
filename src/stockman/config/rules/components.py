"""Rules for components: known names and versions, and enabled requirements."""

from __future__ import annotations

from stockman.config.components import resolve_components
from stockman.config.nearest import nearest_name
from stockman.config.rules.context import RuleContext
from stockman.model.component import Component, ComponentFacts
from stockman.model.component import all_component_facts as known_components
from stockman.model.component import find_component_facts as named
from stockman.model.origin import Origin

REPLACEABLE = ("cilium", "coredns")
"""Components that may be disabled although others need them: Talos has its own CoreDNS, and the
user may install another CNI."""


def check_components(context: RuleContext) -> None:
    """Check names, versions and requirements of components."""
    known = {facts.name: facts for facts in known_components()}
    for name, component in context.configuration.components.items():
        if name not in known:
            _report_unknown_component(context, name, component, known)
        elif not known[name].condition:
            _report_not_installed(context, name, component)
        else:
            _check_version(context, component, known[name])
    _check_needs(context, known)


def _report_unknown_component(
    context: RuleContext, name: str, component: Component, known: dict[str, ComponentFacts]
) -> None:
    of_chart = named(name)
    installed = [facts.name for facts in known.values() if facts.condition]
    meant = of_chart.name if of_chart is not None else nearest_name(name, installed)
    context.problems.error(
        "component.unknown",
        f"there is no component {name}",
        why="no component of the catalog has that name",
        fix=f"write {meant}" if meant else "`stockman explain component` lists all of them",
        at=component.where(),
    )


def _report_not_installed(context: RuleContext, name: str, component: Component) -> None:
    if not component.enabled:
        return
    context.problems.warn(
        "component.not-installed",
        f"{name} is on, and stockman does not install it",
        why="stockman knows its versions only; it is no component of the catalog",
        fix="install it yourself, with files of your own in the repository",
        at=component.where("enabled"),
    )


def _check_version(context: RuleContext, component: Component, known: ComponentFacts) -> None:
    configured, tested = component.version, known.version
    if configured is None or tested is None or configured == tested:
        return
    age = "newer" if configured > tested else "older"
    context.problems.warn(
        "component.version",
        f"{known.name} {configured} is {age} than the release that stockman knows",
        why=f"what stockman renders for it was checked with {tested}",
        fix="remove version, or read the release notes between the two",
        at=component.where("version"),
    )


def _check_needs(context: RuleContext, known: dict[str, ComponentFacts]) -> None:
    components = resolve_components(context.configuration)
    for name, component in components.items():
        if not component.enabled or name not in known:
            continue
        for need in known[name].requires:
            requirement = components.get(need)
            origin = _written_origin(component, requirement)
            # Where neither was written, rules about the keys that call for them say it better.
            if (
                need in REPLACEABLE
                or origin is None
                or (requirement is not None and requirement.enabled)
            ):
                continue
            context.problems.error(
                "component.requires",
                f"{name} needs {need}, which is off",
                why=_reason(name, component, need, requirement),
                fix=f"set components.{need}.enabled to true, or components.{name}.enabled to false",
                at=origin,
            )


def _reason(name: str, component: Component, need: str, requirement: Component | None) -> str:
    return (
        f"{name} is on: {_enabled_reason(component)}; {need} is off: {_enabled_reason(requirement)}"
    )


def _enabled_reason(component: Component | None) -> str:
    origin = component.origins.get("enabled") if component is not None else None
    if origin is None:
        return "nobody asked for it"
    return origin.via if origin.is_derived else "as written"


def _written_origin(component: Component, requirement: Component | None) -> Origin | None:
    """Return where either component was configured; None: both states are derived."""
    for candidate in (requirement, component):
        origin = candidate.origins.get("enabled") if candidate is not None else None
        if origin is not None and not origin.is_derived:
            return origin
    return None
