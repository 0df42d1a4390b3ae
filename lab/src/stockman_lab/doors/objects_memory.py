"""Object storage of a world, for who asks without a wire."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from stockman_lab.objects.api import ObjectsApi
from stockman_lab.objects.buckets import Buckets
from stockman_lab.world.world import World


def world_objects(world: World, clock: Callable[[], datetime] | None = None) -> ObjectsApi:
    """The object storage of a world; without a clock of its own it goes by the world's."""
    state = world.state
    buckets = Buckets(state.objects, state.blobs, lambda: world.now)
    return ObjectsApi(
        buckets,
        state.faults,
        lambda: world.now,
        clock or (lambda: datetime.fromtimestamp(world.now, UTC)),
    )
