"""Asks the service of resources as a client would, without a wire between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

from stockman_lab.talos.api.call import IncomingCall, single
from stockman_lab.talos.api.proxy import perform
from stockman_lab.talos.api.registry import CallContext, all_methods

from lab.tests.talos.cosi.handmade import HandMade, HandMadeLand
from stockman.talos.wire.schema import load_api_schema
from stockman.talos.wire.values import message_values, new_message

ADMIN = frozenset({"os:admin"})
READER = frozenset({"os:reader"})
SERVICES = "Services.v1alpha1.talos.dev"
LINKS = "LinkStatuses.net.talos.dev"

Change = Callable[[], None]


class Over(Exception):
    """Nothing more happens."""


@dataclass
class Changing:
    """Patience of somebody to whom things happen one after another."""

    changes: list[Change] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        del seconds

    async def changed(self) -> None:
        if not self.changes:
            raise Over
        self.changes.pop(0)()


def answers(
    machine: HandMade,
    name: str,
    request: Mapping[str, object],
    *changes: Change,
    roles: frozenset[str] = ADMIN,
) -> list[dict[str, object]]:
    """All messages of an answer; a watch ends when no more of the changes are left."""
    messages: list[dict[str, object]] = []
    land = cast("HandMadeLand", machine.land)

    async def ask() -> None:
        patience = Changing(list(changes))
        async for message in _messages(land, machine, name, request, patience, roles):
            messages.append(message)  # noqa: PERF401  # what came before the end counts

    with suppress(Over):
        asyncio.run(ask())
    return messages


async def _messages(
    hand_made_land: HandMadeLand,
    machine: HandMade,
    name: str,
    request: Mapping[str, object],
    patience: Changing,
    roles: frozenset[str],
) -> AsyncIterator[dict[str, object]]:
    wire = load_api_schema(machine.minor)
    known = wire.method("cosi.resource.State", name)
    raw = new_message(wire, known.request, request).SerializeToString()
    incoming = IncomingCall(f"/cosi.resource.State/{name}", single(raw), {}, roles, "127.0.0.1")
    context = CallContext(hand_made_land, patience, all_methods())
    answer = wire.message(known.response)
    async for piece in perform(context, machine, incoming):
        yield message_values(wire, answer.FromString(piece))


def events(rows: list[dict[str, object]]) -> list[tuple[str, str, str]]:
    """What happened to which resource in which version."""
    told = []
    for answer in rows:
        for one in answer.get("event", []):  # type: ignore[attr-defined]
            metadata = one["resource"]["metadata"]
            told.append(
                (one.get("event_type", "CREATED"), metadata.get("id", ""), metadata["version"])
            )
    return told
