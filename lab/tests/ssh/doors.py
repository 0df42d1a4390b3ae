"""Worlds whose hosts can be logged in to over a wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import asyncssh
from stockman_lab.servers.hosts import HostEndpoint
from stockman_lab.servers.options import ServingOptions
from stockman_lab.servers.serving import Serving
from stockman_lab.world.world import World

from lab.tests.worlds import small_world

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
T = TypeVar("T")
Step = Callable[[Serving], Awaitable[T]]


def served(tmp_path: Path, step: Step[T], world: World | None = None) -> T:
    """What a step returns while a world is served."""

    async def run() -> T:
        serving = Serving(
            world or small_world(), ServingOptions(port=0, ssh_port=0), tmp_path, NOON
        )
        await serving.start()
        try:
            async with asyncio.timeout(30):
                return await step(serving)
        finally:
            await serving.stop()

    return asyncio.run(run())


def place(serving: Serving, host: str = "pve1") -> HostEndpoint:
    """Where a host is."""
    return next(one for one in serving.hosts.places if one.host == host)


def key_of(serving: Serving) -> asyncssh.SSHKey:
    """The key of who uses the lab."""
    return asyncssh.import_private_key(serving.hosts.ssh_key().private)


@asynccontextmanager
async def logged_in(
    serving: Serving, host: str = "pve1", user: str = "root", password: str | None = None
) -> AsyncIterator[asyncssh.SSHClientConnection]:
    """A connection to a host; with the key of the lab, or with a password."""
    where = place(serving, host)
    connection = await asyncssh.connect(
        where.address,
        where.ssh_port,
        username=user,
        client_keys=[key_of(serving)] if password is None else [],
        password=password,
        known_hosts=None,
        config=None,
        agent_path=None,
    )
    async with connection:
        yield connection


@asynccontextmanager
async def files(serving: Serving) -> AsyncIterator[asyncssh.SFTPClient]:
    """The files of the first host, for root."""
    async with logged_in(serving) as connection, connection.start_sftp_client() as sftp:
        yield sftp
