"""The door without a wire: requests go straight into the world."""

from __future__ import annotations

from typing import Any, TypeAlias

from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.state import ROOT
from stockman_lab.pve.api.api import Api
from stockman_lab.pve.api.call import ApiReply, ApiRequest, Later, Outcome, Upload
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.host import Host
from stockman_lab.world.world import World

_BAD = 400

Data: TypeAlias = Any
"""What JSON holds."""


class NoAnswer(Exception):
    """A connection that hangs or breaks, or brings what nobody can read."""


class MemoryClient:
    """Asks the API of one cluster in the name of somebody, and lets the world go on meanwhile."""

    def __init__(
        self, world: World, cluster: str, host: str = "", caller: Caller | None = None
    ) -> None:
        self.world = world
        self.cluster = world.clusters[cluster]
        self.api = Api(self.cluster)
        hosts = self.cluster.state.hosts
        self.host: Host = hosts[host] if host else next(iter(hosts.values()))
        self.caller = caller or Caller(ROOT)

    def as_caller(self, caller: Caller) -> MemoryClient:
        """The same door for somebody else."""
        return MemoryClient(self.world, self.cluster.name, self.host.name, caller)

    def reply(
        self,
        method: str,
        path: str,
        params: dict[str, object] | None = None,
        upload: Upload | None = None,
    ) -> ApiReply:
        """What is answered, an error too; time passes as far as the answer takes it."""
        request = ApiRequest(
            method=method, path=path, params=params or {}, caller=self.caller, upload=upload
        )
        outgoing = self.api.perform(self.host, request)
        if not isinstance(outgoing, ApiReply):
            outgoing = self._conclude(outgoing)
        if outgoing.wait:
            self.world.advance(outgoing.wait)
        return outgoing

    def call(self, method: str, path: str, /, **params: object) -> Data:
        """The data that is answered; raises `ApiError` where it is a refusal.

        Dashes in names of parameters are written as `__`.
        """
        values = {name.replace("__", "-"): value for name, value in params.items()}
        reply = self.reply(method, path, values)
        if reply.outcome is not Outcome.ANSWER:
            raise NoAnswer(path)
        body = reply.body or {}
        if reply.status >= _BAD:
            errors = body.get("errors")
            raise ApiError(reply.status, reply.reason, errors if isinstance(errors, dict) else None)
        return body.get("data")

    def get(self, path: str, /, **params: object) -> Data:
        return self.call("GET", path, **params)

    def post(self, path: str, /, **params: object) -> Data:
        return self.call("POST", path, **params)

    def put(self, path: str, /, **params: object) -> Data:
        return self.call("PUT", path, **params)

    def delete(self, path: str, /, **params: object) -> Data:
        return self.call("DELETE", path, **params)

    def done(self, upid: object) -> str:
        """Let a task come to its end; returns its exit status."""
        self.world.settle()
        return self.cluster.state.tasks[str(upid)].exit_status

    def _conclude(self, later: Later) -> ApiReply:
        if later.seconds is not None:
            self.world.advance(later.seconds)
            return later.conclude(None)
        values: list[object] = []
        if later.begin is not None:
            later.begin(values.append)
        # No further than the answer takes: others may be waiting for what happens later.
        timeline = self.world.timeline
        while not values and timeline.next_at is not None:
            timeline.run_until(timeline.next_at)
        if not values:
            raise NoAnswer("nothing came from outside")
        return later.conclude(values[0])
