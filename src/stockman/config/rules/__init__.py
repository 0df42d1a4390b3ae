"""Rules between keys: each module knows one subject and reports everything it finds."""

from __future__ import annotations

from stockman.config.load import Loaded
from stockman.config.rules import (
    addresses,
    backups,
    classes,
    components,
    disks,
    edge,
    firewalls,
    guests,
    identity,
    images,
    links,
    machines,
    mirrors,
    networks,
    patches,
    placement,
    presence,
    roles,
    templates,
    upgrades,
    versions,
    vms,
)
from stockman.config.rules.context import Context
from stockman.config.uncollected import uncollected

_RULES = (
    presence.check,
    addresses.check,
    networks.check,
    identity.check,
    roles.check,
    versions.check,
    images.check,
    disks.check,
    links.check,
    machines.check,
    mirrors.check,
    firewalls.check,
    edge.check,
    vms.check,
    placement.check,
    templates.check,
    patches.check,
    upgrades.check,
    backups.check,
    classes.check,
    guests.check,
    components.check,
)


def check(loaded: Loaded) -> None:
    """Add to the problems of loaded files what only shows when keys are seen together."""
    context = Context(loaded)
    with uncollected():
        for rule in _RULES:
            rule(context)
