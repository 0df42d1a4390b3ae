"""Rules between keys: each module checks one subject and reports all problems."""

from __future__ import annotations

from stockman.config.gc_pause import pause_gc
from stockman.config.load import LoadedConfig
from stockman.config.rules import (
    access,
    cluster,
    components,
    devices,
    guests,
    machines,
    networks,
    nodes,
    patches,
    policies,
    vms,
)
from stockman.config.rules import (
    access as edge,
)
from stockman.config.rules import (
    access as firewalls,
)
from stockman.config.rules import (
    cluster as presence,
)
from stockman.config.rules import (
    devices as disks,
)
from stockman.config.rules import (
    nodes as classes,
)
from stockman.config.rules import (
    nodes as identity,
)
from stockman.config.rules import (
    nodes as images,
)
from stockman.config.rules import (
    policies as backups,
)
from stockman.config.rules import (
    vms as placement,
)
from stockman.config.rules.context import RuleContext

_RULES = (
    presence.check_presence,
    networks.check_addresses,
    networks.check_networks,
    identity.check_identity,
    nodes.check_roles,
    cluster.check_versions,
    images.check_images,
    disks.check_disks,
    devices.check_links,
    machines.check_machines,
    access.check_mirrors,
    firewalls.check_firewall,
    edge.check_edge,
    vms.check_vms,
    placement.check_placement,
    vms.check_templates,
    patches.check_patches,
    policies.check_upgrades,
    backups.check_backups,
    classes.check_classes,
    guests.check_guests,
    components.check_components,
)


def check_rules(loaded: LoadedConfig) -> None:
    """Add the problems of all rules to a loaded configuration."""
    context = RuleContext(loaded)
    with pause_gc():
        for rule in _RULES:
            rule(context)
