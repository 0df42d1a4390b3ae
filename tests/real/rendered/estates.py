"""The clusters whose repositories are judged: presets, how much is on, and both layouts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple, cast

from stockman.catalog.objects import merge_values
from stockman.config.language import Dialect
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.rendering.repository import RenderedRepository, render_repository
from tests.catalog.estates import MATERIALS, wanted
from tests.catalog.everything import EVERYTHING

PRESETS = ("single", "three-node", "fifteen-node")
BREADTHS = ("minimal", "default", "everything", "routed")
DIALECTS: tuple[Dialect, ...] = ("classic", "toml")

MINIMAL: dict[str, Any] = {
    "components": {
        name: {"enabled": False} for name in ("echo", "metrics-server", "reloader", "spegel")
    }
}
ROUTED: dict[str, Any] = {"cilium_bgp_router_asn": 64513, "cilium_bgp_node_asn": 64514}
_ON = cast("dict[str, Any]", EVERYTHING["components"])
TEMPLATES: dict[str, Any] = {
    "proxmox": {"templates": [{"name": "talos", "like": "k8s-work-1"}]},
    "components": {
        "proxmox-ccm": _ON["proxmox-ccm"],
        "karpenter": merge_values(_ON["karpenter"], {"settings": {"template": "talos"}}),
    },
}
"""Karpenter with a template that stockman makes."""
GATEWAYS = {
    "single": "192.168.20.22",
    "three-node": "10.0.3.22",
    "fifteen-node": "10.20.66.52",
}
"""An address of each preset's network that is still free."""
ROUTERS = {"single": "192.168.20.1", "three-node": "10.0.3.1", "fifteen-node": "10.20.66.1"}
NEED_WORKERS = ("karpenter", "multus", "nvidia")
"""Components of which only the largest preset has the machines."""


class Estate(NamedTuple):
    """One cluster."""

    preset: str
    breadth: str
    dialect: Dialect

    def __str__(self) -> str:
        return "-".join(self)


ESTATES = tuple(Estate(*one) for one in product(PRESETS, BREADTHS, DIALECTS))
SOME = (
    Estate("single", "minimal", "classic"),
    Estate("three-node", "default", "toml"),
    Estate("single", "routed", "classic"),
    Estate("fifteen-node", "everything", "classic"),
    Estate("fifteen-node", "everything", "toml"),
)
"""Each preset and each breadth once, and everything in both layouts."""


def keys_of(estate: Estate) -> dict[str, object]:
    """Further keys of cluster.yaml."""
    if estate.breadth == "minimal":
        return MINIMAL
    if estate.breadth == "routed":
        more = TEMPLATES if estate.preset == "fifteen-node" else {}
        return {**ROUTED, **more, "cilium_bgp_router_addr": ROUTERS[estate.preset]}
    if estate.breadth == "default":
        return {}
    more = merge_values(EVERYTHING, {"cloudflare_gateway_addr": GATEWAYS[estate.preset]})
    if estate.preset != "fifteen-node":
        components: Any = more["components"]
        more["components"] = {
            name: component for name, component in components.items() if name not in NEED_WORKERS
        }
    return more


@cache
def repository(estate: Estate) -> RenderedRepository:
    """The repository of a cluster, all materials at hand; fails on any error."""
    problems = Problems()
    machines = {"k8s-work-1": Secret("version: v1alpha1\n")}
    materials = replace(MATERIALS, machine_templates=machines)
    desired = wanted(keys_of(estate), estate.preset)
    rendered_repository = render_repository(desired, materials, estate.dialect, problems)
    assert not problems.errors, [str(problem) for problem in problems.errors]
    return rendered_repository
