"""From a request to a reply, in the order in which the real one looks at it.

Credentials, route, contradictions, permission, the host that is meant, parameters, the work itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.access.credentials import authenticate, read_credentials
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.rules import Rule, refuse_token, rule
from stockman_lab.pve.api.call import (
    Answer,
    ApiReply,
    ApiRequest,
    Awaited,
    Call,
    Deferred,
    Later,
    Outcome,
    Outgoing,
)
from stockman_lab.pve.api.registry import load_endpoints
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import ClusterState
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.host import Host
from stockman_lab.pve.host_power import lose_power
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.schema.verify import merge_parameters, verify

if TYPE_CHECKING:
    from stockman_lab.pve.host import Host
    from stockman_lab.pve.schema.operation import Expression, Operation

_NODE_PATH = re.compile(r"/nodes/([^/]+)")
_GUEST_PATH = re.compile(r"/nodes/[^/]+/(?:qemu|lxc)/(\d+)(?:/|\Z)")
_TICKET_OF = re.compile(r"PVE:([^:]+@[^:]+):")


def facts_of(host: Host, request: ApiRequest) -> dict[str, object]:
    """Facts of a request; a guest is named by the path, or as the one that is to be made."""
    node, guest = _NODE_PATH.match(request.path), _GUEST_PATH.match(request.path)
    return {
        "host": host.name,
        "method": request.method,
        "path": request.path,
        "node": node[1] if node else "",
        "vmid": guest[1] if guest else request.params.get("vmid", ""),
        "user": _user_of(request),
    }


def _user_of(request: ApiRequest) -> str:
    """Who a request says it comes from; whether that is true is looked at later."""
    if request.caller is not None:
        return request.caller.authid
    shown = read_credentials(request.method, request.path, request.headers)
    if shown.api_token:
        return shown.api_token.rpartition("=")[0]
    ticket = _TICKET_OF.match(shown.ticket or "")
    return ticket[1] if ticket else ""


class ClusterPools:
    """The pools of a cluster."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state

    @property
    def version(self) -> int:
        """Moves with every change of a file that all hosts share."""
        return self._state.cfs_version

    def pools_of(self, path: str) -> Collection[str]:
        """The pools that hold what a path names."""
        kind, _, name = path.removeprefix("/").partition("/")
        pools = self._state.resource_pools.values()
        if kind == "vms":
            return [pool.id for pool in pools if name.isdigit() and int(name) in pool.guests]
        if kind == "storage":
            return [pool.id for pool in pools if name in pool.storages]
        return ()

    def member_paths(self) -> Iterable[str]:
        """The paths of everything that is in a pool."""
        for pool in self._state.resource_pools.values():
            yield from (f"/vms/{vmid}" for vmid in pool.guests)
            yield from (f"/storage/{storage}" for storage in pool.storages)


FAILED_LOGIN_SECONDS = 3.0
NOBODY = Caller("")
"""Stands for who calls where nobody has to log in."""
_NO_ROUTE = "No route to host"
_CONNECT_FAILED = 595


class Api:
    """The API of one cluster; every host of it answers."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.schema = Schema.of(cluster.state.profile)
        self.authority = Authority(cluster.state.access, ClusterPools(cluster.state))
        self.endpoints = load_endpoints()
        self._rules: dict[Operation, Rule] = {}

    def perform(self, host: Host, request: ApiRequest) -> Outgoing:
        """Answer a request that reached a host."""
        fault = self._fault(host, request)
        if fault is None:
            return self._answered(host, request)
        if fault.effect is Effect.KILL:
            lose_power(self.cluster, host)
            return _struck(fault)
        if fault.effect in _BEFORE:
            return _struck(fault)
        if fault.effect is Effect.LIE:
            return self._as_it_was(fault, host, request)
        outgoing = self._answered(host, request)
        return _struck(fault) if fault.effect in _AFTER else _bent(fault, outgoing)

    def _as_it_was(self, fault: Fault, host: Host, request: ApiRequest) -> Outgoing:
        """Answer a read of who is known today with what was true when a fault began."""
        try:
            caller = request.caller or self._caller(host, request)
        except ApiError as error:
            return _unknown_caller(error)
        cluster = Cluster(*self.cluster.around.recall(fault, self.cluster.name))
        return Api(cluster)._answered(cluster.host(host.name), replace(request, caller=caller))

    def _answered(self, host: Host, request: ApiRequest) -> Outgoing:
        try:
            return self._performed(host, request)
        except ApiError as error:
            return _refusal(error)

    def _performed(self, host: Host, request: ApiRequest) -> Outgoing:
        try:
            caller = request.caller or self._caller(host, request)
        except ApiError as error:
            return _unknown_caller(error)
        routed = self.schema.route(request.method, request.path)
        operation = routed.operation
        given = merge_parameters(routed, request.params)
        if caller is not None and caller.tokenid and not operation.allows_token:
            refuse_token(request.path)
        self._rule(operation)(self.authority, caller, given)
        self._reach(host, operation, given)
        handler = self.endpoints.get((operation.method, operation.path))
        if handler is None:
            raise ApiError(501, f"Method '{request.method} {request.path}' not implemented")
        call = Call(
            cluster=self.cluster,
            host=host,
            caller=caller or NOBODY,
            authority=self.authority,
            params=verify(operation, given),
            upload=request.upload,
        )
        return _outgoing(handler(call))

    def _rule(self, operation: Operation) -> Rule:
        """What an operation demands of who calls it; made ready once."""
        found = self._rules.get(operation)
        if found is None:
            found = self._rules[operation] = rule(_block(operation.rights))
        return found

    def _caller(self, host: Host, request: ApiRequest) -> Caller | None:
        shown = read_credentials(request.method, request.path, request.headers)
        caller = authenticate(self.authority, shown, self.cluster.now)
        if caller is None or not self.cluster.around.faults.listed:
            return caller
        fault = self.cluster.fault(Point.AUTHENTICATE, {"host": host.name, "user": caller.authid})
        if fault is not None:
            raise ApiError(fault.status or 401, fault.message or "Authentication failed!")
        return caller

    def _reach(self, host: Host, operation: Operation, given: dict[str, object]) -> None:
        """Pass a request on to the host that it is for; refused where that cannot be reached."""
        if not operation.proxied or "node" not in given:
            return
        name = str(given["node"])
        if name in ("localhost", host.name):
            return
        target = self.cluster.host(name)
        if not target.has_power:
            raise ApiError(_CONNECT_FAILED, _NO_ROUTE)

    def _fault(self, host: Host, request: ApiRequest) -> Fault | None:
        if not self.cluster.around.faults.listed:
            return None
        self.cluster.around.remember()
        return self.cluster.fault(Point.REQUEST, facts_of(host, request))


_BEFORE = frozenset({Effect.FAIL, Effect.HANG, Effect.CUT, Effect.CLAIM})
_AFTER = frozenset({Effect.DO_THEN_FAIL, Effect.DO_THEN_CUT})


def _unknown_caller(error: ApiError) -> ApiReply:
    return ApiReply(error.status, error.message, None, FAILED_LOGIN_SECONDS)


def _bent(fault: Fault, outgoing: Outgoing) -> Outgoing:
    """An answer that comes late or damaged."""
    if isinstance(outgoing, Later):
        conclude = outgoing.conclude
        return replace(outgoing, conclude=lambda found: _bent_reply(fault, conclude(found)))
    return _bent_reply(fault, outgoing)


def _bent_reply(fault: Fault, reply: ApiReply) -> ApiReply:
    if fault.effect is Effect.CORRUPT:
        reply.outcome = Outcome.CORRUPT
    else:
        reply.wait += fault.seconds
    return reply


def _struck(fault: Fault) -> ApiReply:
    match fault.effect:
        case Effect.HANG:
            return ApiReply(0, "", outcome=Outcome.HANG)
        case Effect.CUT | Effect.DO_THEN_CUT | Effect.KILL:
            return ApiReply(0, "", outcome=Outcome.CUT)
        case Effect.CLAIM:
            return ApiReply(200, "OK", {"data": None})
        case _:
            status = fault.status or 596
            reason = fault.message or ("Connection timed out" if status > 594 else "got timeout")
            return _refusal(ApiError(status, reason))


def _outgoing(result: object) -> Outgoing:
    if isinstance(result, Deferred):
        answer = result.answer
        return Later(result.seconds, None, lambda _: _conclude(answer))
    if isinstance(result, Awaited):
        return Later(None, result.begin, _reply_of)
    return _success(result)


def _conclude(answer: object) -> ApiReply:
    try:
        return _success(answer())  # type: ignore[operator]
    except ApiError as error:
        return _refusal(error)


def _reply_of(result: object) -> ApiReply:
    return _refusal(result) if isinstance(result, ApiError) else _success(result)


def _success(result: object) -> ApiReply:
    if not isinstance(result, Answer):
        return ApiReply(200, "OK", {"data": result})
    body: dict[str, object] = {"data": result.data}
    if result.total is not None:
        body["total"] = result.total
    if result.changes is not None:
        body["changes"] = result.changes
    return ApiReply(200, "OK", body)


def _refusal(error: ApiError) -> ApiReply:
    if error.status >= _CONNECT_FAILED:
        return ApiReply(error.status, error.message, None)
    message = error.message if error.message.endswith("\n") else f"{error.message}\n"
    body: dict[str, object] = {"data": None, "message": message}
    if error.errors:
        body["errors"] = error.errors
    reason = error.message.strip().split("\n")[0] or HTTPStatus(error.status).phrase
    return ApiReply(error.status, reason, body)


def _block(rights: str | Expression) -> dict[str, object] | None:
    """Rights as the rules of access want them told."""
    if rights in ("world", "all"):
        return {"user": rights}
    return {"check": rights} if rights else None
