"""Rules between keys: each module checks one subject and reports all problems."""

from __future__ import annotations

from stockman.config.gc_pause import pause_gc
from stockman.config.load import LoadedConfig
from stockman.config.rules import (
    access,
    cluster,
    machines,
    networks,
    nodes,
    plausibility,
    vms,
)
from stockman.config.rules.context import RuleContext

_RULES = (
    cluster.check_presence,
    networks.check_addresses,
    networks.check_networks,
    nodes.check_identity,
    nodes.check_roles,
    cluster.check_versions,
    nodes.check_images,
    machines.check_disks,
    machines.check_links,
    machines.check_machines,
    access.check_mirrors,
    access.check_firewall,
    access.check_edge,
    vms.check_vms,
    vms.check_placement,
    vms.check_templates,
    nodes.check_patches,
    cluster.check_upgrades,
    cluster.check_backups,
    nodes.check_classes,
    vms.check_guests,
    cluster.check_components,
    plausibility.check_plausibility,
)


def check_rules(loaded: LoadedConfig) -> None:
    """Add the problems of all rules to a loaded configuration."""
    context = RuleContext(loaded)
    with pause_gc():
        for rule in _RULES:
            rule(context)
