"""When a component is on without being asked for: names that its facts may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from stockman.config.language.estate import Estate


class When(NamedTuple):
    """A reason to turn a component on."""

    holds: Callable[[Estate], bool]
    says: str
    """Why it is on, where it holds."""
    otherwise: str
    """Why it is off, where it does not."""


def _several_nodes(estate: Estate) -> bool:
    given = estate.spegel.enabled
    return len(estate.nodes) > 1 if given is None else given


def _tunnel(estate: Estate) -> bool:
    mode = estate.ingress.mode
    return mode == "cloudflare-tunnel" or (mode is None and estate.dns.provider == "cloudflare")


def _monitored(estate: Estate) -> bool:
    definitions = estate.components.get("prometheus-operator-crds")
    return definitions is not None and definitions.enabled is True


CONDITIONS: Mapping[str, When] = {
    "always": When(lambda estate: True, "part of every cluster", ""),
    "asked": When(lambda estate: False, "", "nobody asked for it"),
    "several-nodes": When(_several_nodes, "there are several nodes", "there is one node"),
    "public-dns": When(
        lambda estate: estate.dns.provider != "none" and estate.ingress.mode != "none",
        "public DNS is edited",
        "nothing is to be found in public DNS",
    ),
    "tunnel": When(_tunnel, "ingress comes through a tunnel", "there is no tunnel"),
    "backup": When(
        lambda estate: any(target.bucket is not None for target in estate.backup.targets),
        "backups have a bucket",
        "backups have no bucket",
    ),
    "monitored": When(
        _monitored,
        "prometheus-operator-crds is on",
        "prometheus-operator-crds is off",
    ),
    "tuppr-engine": When(
        lambda estate: estate.upgrade.engine == "tuppr",
        "it carries out upgrades",
        "stockman carries out upgrades",
    ),
}
