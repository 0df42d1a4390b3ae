"""Labs that real clients talk to: served on loopback addresses while a test runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from stockman_lab.guest.network import Pool as AddressPool
from stockman_lab.testing.thread import LabThread, ProxmoxLab
from stockman_lab.world.state import WorldState
from stockman_lab.world.world import World

from lab.tests.worlds import small_world


@contextmanager
def served(scratch: Path, profile: str = "9.1", world: World | None = None) -> Iterator[ProxmoxLab]:
    """A small cluster, or another world, that answers on any free port."""
    now = datetime.now(UTC)  # noqa: TID251  # certificates have to be valid to real clients
    lab = LabThread(world or _today(profile, now), scratch, now, port=0, ssh_port=0)
    try:
        yield lab.start()
    finally:
        lab.stop()


def _today(profile: str, now: datetime) -> World:
    """A small cluster whose clock agrees with that of its clients."""
    state: WorldState = small_world(profile).state
    state.timeline.now = float(int(now.timestamp()))
    for vlan in (None, 5, 62):  # clients do not take a loopback address for one of a machine
        first = f"fd00:66:{vlan or 0}::/64"
        pool = AddressPool(bridge="vmbr0", vlan=vlan, first=first, count=0, announced=True)
        state.network.pools.append(pool)
    for cluster in state.clusters.values():
        for host in cluster.hosts.values():
            host.booted_at = state.timeline.now - 86_400
    return World(state)
