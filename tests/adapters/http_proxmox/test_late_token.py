"""Tokens that are made, or made anew, while somebody already talks."""

from __future__ import annotations

import asyncio

from stockman.adapters.proxmox.credentials import ApiToken, DeferredToken
from stockman.model.errors import Denied
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.proxmox.client import ProxmoxClient
from tests.adapters.http_proxmox.scripted import Answer, Asked, ScriptedServer
from tests.adapters.http_proxmox.talking import CANARY, talk, trouble

OLD, NEW = f"{CANARY}-old", f"{CANARY}-new"


class Kept:
    """Where the secret of a token stands; empty: it was not made yet."""

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.looks = 0

    def __call__(self) -> ApiToken:
        self.looks += 1
        if not self.secret:
            raise Denied(Problem(code="proxmox.no-token", what="none", why="none", fix="make it"))
        return ApiToken(id="stockman@pve!main", secret=Secret(self.secret))


def lets_in(request: Asked) -> Answer:
    """A server that knows the new token only."""
    if request.headers["authorization"].endswith(NEW):
        return Answer([])
    return Answer(status=401, reason="authentication failed", message="no")


async def look(pve: ProxmoxClient) -> None:
    await pve.pools()


def test_a_token_is_read_when_it_is_used_and_once() -> None:
    kept, server = Kept(NEW), ScriptedServer(lets_in)

    async def twice(pve: ProxmoxClient) -> None:
        assert kept.looks == 0
        await look(pve)
        await look(pve)

    talk(server, twice, credentials=DeferredToken(kept))

    assert kept.looks == 1


def test_a_token_that_does_not_exist_yet_is_asked_for_again() -> None:
    kept, server = Kept(""), ScriptedServer(lets_in)

    async def story(pve: ProxmoxClient) -> None:
        try:
            await look(pve)
        except Denied:
            kept.secret = NEW
        await look(pve)

    talk(server, story, credentials=DeferredToken(kept))

    assert len(server.asked) == 1


def test_a_token_that_was_made_anew_is_used_from_then_on() -> None:
    kept, server = Kept(OLD), ScriptedServer(lets_in)

    async def story(pve: ProxmoxClient) -> None:
        try:
            await look(pve)
        except Denied:
            kept.secret = NEW
        await asyncio.gather(look(pve), look(pve), look(pve))
        await look(pve)

    talk(server, story, credentials=DeferredToken(kept))

    used = [one.headers["authorization"].rpartition("-")[2] for one in server.asked]
    assert sorted(used) == ["new"] * 4 + ["old"]
    assert used[-1] == "new"


def test_a_token_that_stays_the_same_is_not_tried_twice() -> None:
    kept, server = Kept(OLD), ScriptedServer(lets_in)

    found = trouble(Denied, lambda: talk(server, look, credentials=DeferredToken(kept)))

    assert found.code == "proxmox.authentication"
    assert len(server.asked) == 1


def test_where_it_is_gone_the_refusal_is_told() -> None:
    kept, server = Kept(OLD), ScriptedServer(lets_in)
    late = DeferredToken(kept)
    assert late.secret.reveal() == OLD
    kept.secret = ""

    found = trouble(Denied, lambda: talk(server, look, credentials=late))

    assert found.code == "proxmox.authentication"
