"""`ports.Proxmox` in memory: the calls of the product, carried straight into the world."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman.proxmox.calls.tasks import PollPolicy
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.errors import ErrorReply, reply_error
from stockman.proxmox.transport import Reply, Request
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.api.call import ApiReply, Outcome, Upload
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.world.world import World

_BAD = 400
_NO_ANSWER = 596


class WorldClock:
    """`ports.Timekeeper` of a world: whoever waits lets its time pass."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._world.now, UTC)

    async def sleep(self, seconds: float) -> None:
        self._world.advance(seconds)


class WorldWire:
    """Carries calls to one host of a world."""

    def __init__(self, client: MemoryClient) -> None:
        self._door = client

    async def call(self, request: Request) -> Reply:
        """Make one call; a connection that breaks is one without an answer."""
        file = await _file(request)
        reply = self._door.reply(request.method, request.quoted, _parameters(request), file)
        if reply.outcome is not Outcome.ANSWER or not self._door.host.has_power:
            raise reply_error(request, ErrorReply(status=_NO_ANSWER, reason="Connection timed out"))
        if reply.status >= _BAD:
            raise reply_error(request, _error_reply(reply))
        body = reply.body or {}
        total, changes = body.get("total"), body.get("changes")
        return Reply(
            data=body.get("data"),
            total=total if isinstance(total, int) else None,
            changes=str(changes or ""),
        )


SELDOM = PollPolicy(initial=0.1, growth=0.05)
"""How tasks of a world are waited for by who lets its time pass: nobody gets to know sooner by
looking more often."""


def memory_proxmox(world: World, cluster: str, caller: Caller | None = None) -> ProxmoxClient:
    """The port, with a cluster of a world behind it; root asks unless somebody else is named."""
    wire = WorldWire(MemoryClient(world, cluster, caller=caller))
    return ProxmoxClient(wire, WorldClock(world), SELDOM)


def _parameters(request: Request) -> dict[str, object]:
    texts: dict[str, object] = {}
    for name, text in request.pairs:
        known = texts.get(name)
        if known is None:
            texts[name] = text
        elif isinstance(known, list):
            known.append(text)
        else:
            texts[name] = [known, text]
    if request.upload is not None:
        texts["filename"] = request.upload.name
    return texts


async def _file(request: Request) -> Upload | None:
    if request.upload is None:
        return None
    pieces = [piece async for piece in request.upload.read()]
    return Upload(request.upload.name, b"".join(pieces))


def _error_reply(reply: ApiReply) -> ErrorReply:
    body = reply.body or {}
    errors = body.get("errors")
    return ErrorReply(
        status=reply.status,
        reason=reply.reason,
        message=str(body.get("message", "")),
        errors=errors if isinstance(errors, dict) else {},
    )
