"""Which components are enabled: explicitly, or by conditions on the rest of the configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from stockman.config.language import Configuration
from stockman.model.component import Component, all_component_facts
from stockman.model.origin import derivation


class Condition(NamedTuple):
    """A condition that enables a component by default."""

    holds: Callable[[Configuration], bool]
    reason: str
    """Why the component is enabled if the condition holds."""
    negative_reason: str
    """Why the component is disabled if it does not hold."""


def _has_several_nodes(estate: Configuration) -> bool:
    enabled = estate.spegel.enabled
    return len(estate.nodes) > 1 if enabled is None else enabled


def _uses_tunnel(estate: Configuration) -> bool:
    mode = estate.ingress.mode
    return mode == "cloudflare-tunnel" or (mode is None and estate.dns.provider == "cloudflare")


def _has_monitoring(estate: Configuration) -> bool:
    definitions = estate.components.get("prometheus-operator-crds")
    return definitions is not None and definitions.enabled is True


CONDITIONS: Mapping[str, Condition] = {
    "always": Condition(lambda estate: True, "part of every cluster", ""),
    "asked": Condition(lambda estate: False, "", "nobody asked for it"),
    "several-nodes": Condition(_has_several_nodes, "there are several nodes", "there is one node"),
    "public-dns": Condition(
        lambda estate: estate.dns.provider != "none" and estate.ingress.mode != "none",
        "public DNS is edited",
        "nothing is to be found in public DNS",
    ),
    "tunnel": Condition(_uses_tunnel, "ingress comes through a tunnel", "there is no tunnel"),
    "backup": Condition(
        lambda estate: any(target.bucket is not None for target in estate.backup.targets),
        "backups have a bucket",
        "backups have no bucket",
    ),
    "monitored": Condition(
        _has_monitoring,
        "prometheus-operator-crds is on",
        "prometheus-operator-crds is off",
    ),
    "tuppr-engine": Condition(
        lambda estate: estate.upgrade.engine == "tuppr",
        "it carries out upgrades",
        "stockman carries out upgrades",
    ),
}


def resolve_components(estate: Configuration) -> dict[str, Component]:
    """Return all components of the catalog, enabled or not, with the reason; only configured ones
    if there is no cluster."""
    if not estate.nodes:
        return estate.components
    components = dict(estate.components)
    for known in all_component_facts():
        if known.condition:
            components[known.name] = _resolve_component(
                components.get(known.name, Component()), known.condition, estate
            )
    return dict(sorted(components.items()))


def _resolve_component(component: Component, when: str, estate: Configuration) -> Component:
    if component.enabled is not None:
        return component
    condition = CONDITIONS[when]
    holds = condition.holds(estate)
    reason = condition.reason if holds else condition.negative_reason
    return replace(
        component,
        enabled=holds,
        origins={**component.origins, "enabled": derivation(reason)},
    )
