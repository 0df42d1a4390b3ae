"""Components that a cluster has; what it has not is switched off, so that nobody installs it."""

from __future__ import annotations

from stockman.assessment.adoption.hardware import Keys
from stockman.model.component import ComponentFacts, all_component_facts
from stockman.planning.observed.kubernetes import ObservedKubernetes

_USUAL = ("always",)
_FLUX = "flux-instance"
_SEVERAL = "several-nodes"
_DEFINITIONS = {"gateway-api": "gateways.gateway.networking.k8s.io"}
"""Components that are no release, and a kind that they bring."""


def component_keys(seen: ObservedKubernetes, *, several: bool, follows: bool) -> Keys:
    """`enabled: false` for each component that would be on, and is not there.

    `follows`: whether the cluster follows a repository; without one Flux has nothing to do.
    """
    usual = (*_USUAL, _SEVERAL) if several else _USUAL
    wanted = {one.name: one for one in all_component_facts() if one.when in usual}
    off = {name for name, one in wanted.items() if not _is_installed(one, seen)}
    if not follows:
        off.add(_FLUX)
    while True:
        more = {
            name
            for name, one in wanted.items()
            if name not in off and any(need in off for need in one.requires)
        }
        if not more:
            return {name: {"enabled": False} for name in sorted(off)}
        off |= more


def unsupported_components(seen: ObservedKubernetes) -> tuple[str, ...]:
    """Components that somebody asked for once, and that files have to ask for again."""
    return tuple(
        one.name
        for one in all_component_facts()
        if one.when == "asked" and _is_installed(one, seen)
    )


def _is_installed(one: ComponentFacts, seen: ObservedKubernetes) -> bool:
    if one.name in _DEFINITIONS:
        return any(kind.name == _DEFINITIONS[one.name] for kind in seen.definitions or ())
    if any(release.name == one.release for release in seen.releases or ()):
        return True
    return any(made.kind == "HelmRelease" and made.name == one.release for made in seen.flux or ())
