"""What events of a cluster do, by their names; imported when the first one happens."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from stockman_lab.core.timeline import Arguments
    from stockman_lab.pve.cluster import Cluster

_HERE = "stockman_lab.pve"
TARGETS = {
    "pve.task.finish": "workers:finish_event",
    "pve.bulk.go-on": "host_power:go_on",
    "pve.ha.act": "ha_manager:act",
    "pve.ha.fence": "ha_manager:recover",
    "pve.ha.look": "ha_manager:look",
    "pve.host.comes-up": "host_power:come_up",
    "pve.host.goes-down": "host_power:go_down",
    "pve.host.loses-power": "host_power:power_lost",
    "pve.host.is-up": "host_power:is_up",
    "pve.qemu.off": "qemu.power:went_off",
    "pve.qemu.up": "qemu.power:came_up",
    "pve.replication.turn": "storages.replication:turn",
}
"""Modules and functions below this package."""


def happen(cluster: Cluster, name: str, arguments: Arguments) -> None:
    """Let an event of a cluster happen."""
    _function(name)(cluster, arguments)


@cache
def _function(name: str) -> Callable[[Cluster, Arguments], None]:
    # Workers are known by the modules that answer requests.
    import_module(f"{_HERE}.api.registry").load_endpoints()
    module, _, function = TARGETS[name].partition(":")
    found = getattr(import_module(f"{_HERE}.{module}"), function)
    return cast("Callable[[Cluster, Arguments], None]", found)
