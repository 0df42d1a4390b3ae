"""Component keys: components that are not installed in the cluster are disabled."""

from __future__ import annotations

from stockman.assessment.adoption.hardware import Keys
from stockman.model.component import ComponentFacts, all_component_facts
from stockman.planning.observed.kubernetes import ObservedKubernetes

_USUAL = ("always",)
_FLUX = "flux-instance"
_SEVERAL = "several-nodes"
_DEFINITIONS = {"gateway-api": "gateways.gateway.networking.k8s.io"}
"""Components without a Helm release, and a kind that each of them defines."""


def component_keys(observed: ObservedKubernetes, *, several: bool, follows: bool) -> Keys:
    """Return `enabled: false` for each default component that is not installed.

    `follows`: whether the cluster follows a repository; without one, Flux has nothing to do.
    """
    usual = (*_USUAL, _SEVERAL) if several else _USUAL
    default_components = {
        component.name: component
        for component in all_component_facts()
        if component.condition in usual
    }
    off = {
        name
        for name, component in default_components.items()
        if not _is_installed(component, observed)
    }
    if not follows:
        off.add(_FLUX)
    while True:
        more = {
            name
            for name, component in default_components.items()
            if name not in off and any(need in off for need in component.requires)
        }
        if not more:
            return {name: {"enabled": False} for name in sorted(off)}
        off |= more


def components_to_describe(observed: ObservedKubernetes) -> tuple[str, ...]:
    """Names of installed optional components, which the files must enable explicitly."""
    return tuple(
        component.name
        for component in all_component_facts()
        if component.condition == "asked" and _is_installed(component, observed)
    )


def _is_installed(component: ComponentFacts, observed: ObservedKubernetes) -> bool:
    if component.name in _DEFINITIONS:
        return any(kind.name == _DEFINITIONS[component.name] for kind in observed.definitions or ())
    if any(release.name == component.release for release in observed.releases or ()):
        return True
    return any(
        resource.kind == "HelmRelease" and resource.name == component.release
        for resource in observed.flux or ()
    )
