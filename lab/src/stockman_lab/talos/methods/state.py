"""The service of resources: read, listed and followed, and never written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Call, Refusal
from stockman_lab.talos.api.registry import method, streamed
from stockman_lab.talos.cosi.queries import looked_at, wanted
from stockman_lab.talos.cosi.seen import UNDEFINED
from stockman_lab.talos.cosi.watching import watched

_STATE = "cosi.resource.State"


@method(_STATE, "Get")
def get(call: Call) -> Mapping[str, object]:
    """One resource."""
    request = call.request
    found = looked_at(call).items.get(request.id)
    if found is None:
        text = f"{request.type}({request.namespace}/{request.id}@{UNDEFINED})"
        raise Refusal(GrpcCode.NOT_FOUND, f"resource {text} doesn't exist")
    return {"resource": found.fields}


@streamed(_STATE, "List")
async def listed(call: Call) -> AsyncIterator[Mapping[str, object]]:
    """All resources of a kind, in the order of their ids."""
    fits = wanted(call.request.options)
    for _, resource in sorted(looked_at(call).items.items()):
        if fits(resource):
            yield {"resource": resource.fields}


watch = streamed(_STATE, "Watch")(watched)


@method(_STATE, "Create")
@method(_STATE, "Update")
@method(_STATE, "Destroy")
@method(_STATE, "Teardown", since="1.14")
@method(_STATE, "TeardownAndDestroy", since="1.14")
def written(call: Call) -> Mapping[str, object]:
    """Nobody writes from outside."""
    raise Refusal(GrpcCode.PERMISSION_DENIED, "write access is not allowed")
