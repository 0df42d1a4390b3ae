"""The lab's object storage answers as a real S3 server does."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from stockman_lab.objects.state import first_key
from stockman_lab.servers.pace import Pace
from stockman_lab.servers.services import ObjectsServer
from stockman_lab.world.world import World

from lab.tests.objects.signing import Signer
from tests.real.objects_requests import Said, Teller, requests
from tests.real.versitygw import ACCESS_KEY, SECRET_KEY, versitygw_served
from tools.pytest_plugin import RealTool

DIFFERENT = {
    "get if other": "the lab repeats the tag, as Amazon does",
    "encoded list": "versitygw does not encode keys; clients ask for it because of odd ones",
    "old list": "Amazon tells the next marker only together with a delimiter",
    "start after": "versitygw repeats the key as a token as well",
    "complete backwards": "versitygw looks at sizes before it looks at the order",
    "complete again": "versitygw remembers uploads that are complete",
    "quietly": "versitygw does not know how to be quiet",
    "delete nothing": "Amazon's schema wants a key at least",
    "delete nonsense": "Amazon calls it malformed XML",
}
"""Requests that the lab answers otherwise, and why it should."""


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251  # signatures are verified by it


def answers(url: str, access_key: str, secret: str) -> dict[str, Said]:
    teller = Teller(url, Signer(access_key, secret, urlsplit(url).netloc))
    return {name: teller.said(ask) for name, ask in requests()}


def answers_of_the_lab() -> dict[str, Said]:
    async def told() -> dict[str, Said]:
        world = World.new()
        key = first_key(world.state.objects, world.state.dice.seed)
        door = ObjectsServer(world, Pace(world, None), now)
        port = await door.start("127.0.0.1", 0)
        try:
            url = f"http://127.0.0.1:{port}"
            return await asyncio.to_thread(answers, url, key.id, key.secret)
        finally:
            await door.stop()

    return asyncio.run(told())


def test_the_same_requests_have_the_same_answers(real_tool: RealTool, tmp_path: Path) -> None:
    with versitygw_served(real_tool("versitygw"), tmp_path / "real") as url:
        theirs = answers(url, ACCESS_KEY, SECRET_KEY)
    ours = answers_of_the_lab()

    differing = {name for name, their in theirs.items() if ours[name] != their}

    assert {name: (theirs[name], ours[name]) for name in differing - DIFFERENT.keys()} == {}
    assert differing == DIFFERENT.keys()
