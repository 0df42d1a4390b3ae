"""The health of a cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator

from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.registry import Fields, streamed
from stockman_lab.talos.health.checking import Checking
from stockman_lab.talos.health.nodes import nodes_asked_for
from stockman_lab.talos.health.outcome import quoted
from stockman_lab.talos.health.waiting import waited

_NANOSECONDS = 1e9


@streamed("cluster.ClusterService", "HealthCheck")
async def health_check(call: Call) -> AsyncIterator[Fields]:
    """Check after check until all pass, or the time is up."""
    patience = call.request.wait_timeout
    deadline = call.now + patience.seconds + patience.nanos / _NANOSECONDS
    nodes = nodes_asked_for(call.request, call.machine)
    yield {"message": f"discovered nodes: {quoted([one.address for one in nodes.every])}"}
    async for line in waited(Checking(call, nodes), deadline):
        yield {"message": line}
