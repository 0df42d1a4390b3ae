"""Which components are on: those asked for, and those that the rest of the files call for."""

from __future__ import annotations

from dataclasses import replace

from stockman.config.conditions import CONDITIONS
from stockman.config.language.estate import Estate
from stockman.model.component import Component
from stockman.model.components import components
from stockman.model.origin import derived


def resolved_components(estate: Estate) -> dict[str, Component]:
    """Every component of the catalog, on or off, with the reason; none without a cluster."""
    if not estate.nodes:
        return estate.components
    found = dict(estate.components)
    for known in components():
        if known.when:
            found[known.name] = _resolved(found.get(known.name, Component()), known.when, estate)
    return dict(sorted(found.items()))


def _resolved(component: Component, when: str, estate: Estate) -> Component:
    if component.enabled is not None:
        return component
    condition = CONDITIONS[when]
    holds = condition.holds(estate)
    reason = condition.says if holds else condition.otherwise
    return replace(
        component,
        enabled=holds,
        origins={**component.origins, "enabled": derived(reason)},
    )
