"""`/access`: users, groups, roles, tokens, entries and tickets."""

from __future__ import annotations

from stockman_lab.pve.access.endpoints import ENDPOINTS, AccessCall, Endpoint
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import Handler, endpoint


def _bound(answer: Endpoint, *, writes: bool) -> Handler:
    def handler(call: Call) -> object:
        if writes:
            call.cluster.require_quorum("file-user_cfg")
        state = call.cluster.state
        return answer(
            AccessCall(
                authority=call.authority,
                caller=call.caller,
                params=call.params,
                now=call.now,
                random_bytes=call.cluster.around.dice.random_bytes,
                cluster_name=state.name if state.is_clustered else None,
            )
        )

    return handler


for (method, path), function in ENDPOINTS.items():
    endpoint(method, path)(_bound(function, writes=method != "GET" and path != "/access/ticket"))
