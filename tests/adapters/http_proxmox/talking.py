"""An adapter that talks to a scripted server, with a clock that only tests move."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from stockman.adapters.proxmox.credentials import ApiToken, DeferredToken, Login
from stockman.adapters.proxmox.endpoint import Endpoints, HttpTimeouts
from stockman.adapters.proxmox.transport import HttpProxmox
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.ports.environment import Trust
from stockman.proxmox.client import ProxmoxClient
from tests.adapters.http_proxmox.scripted import ScriptedServer

T = TypeVar("T")
CANARY = "canary-9d1f-0c4e-secret"
TOKEN = ApiToken(id="stockman@pve!main", secret=Secret(CANARY))
QUICK = HttpTimeouts(connect=2, read=0.2, write=0.2, upload=2)
PATIENT = HttpTimeouts(connect=5, read=10, write=10, upload=10)

Story = Callable[[ProxmoxClient], Awaitable[T]]


class SimulatedClock:
    """Stands still until somebody sleeps."""

    def __init__(self) -> None:
        self.time = datetime(2030, 1, 1, tzinfo=UTC)
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += timedelta(seconds=seconds)
        await asyncio.sleep(0)  # noqa: TID251  # lets others run, and takes no time


def talk(
    server: ScriptedServer,
    story: Story[T],
    *,
    credentials: ApiToken | DeferredToken | Login = TOKEN,
    timeouts: HttpTimeouts = PATIENT,
    trust: Trust | None = None,
    clock: SimulatedClock | None = None,
) -> T:
    """What a story comes to that is told to a server which is up while it lasts."""
    judged = trust or Trust(ca=server.identity.ca.crt.encode())

    async def told() -> T:
        async with server.serving():
            endpoints = Endpoints(urls=(server.url,), trust=judged, timeouts=timeouts)
            timekeeper = clock or SimulatedClock()
            async with HttpProxmox(endpoints, credentials, timekeeper) as pve:
                return await story(pve)

    return asyncio.run(told())


def trouble(kind: type[StockmanError], act: Callable[[], object]) -> Problem:
    """The problem that an act ends with, which has to be of exactly this kind."""
    with pytest.raises(StockmanError) as caught:
        act()
    assert type(caught.value) is kind, caught.value.problem
    problem = caught.value.problem
    assert all((problem.what, problem.why, problem.fix))
    assert CANARY not in str(problem)
    return problem
