"""A storage behind TLS is trusted by its CA alone, and nothing is sent to another."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from stockman_lab.authority.making import (
    names_of_host,
    new_authority,
    new_certificate,
    server_context,
)
from stockman_lab.core.dice import Dice
from stockman_lab.http.go_style import go_rules
from stockman_lab.http.server import HttpServer
from stockman_lab.servers.objects_port import world_credentials, world_objects

from stockman.adapters.s3 import S3Objects
from stockman.model.errors import StockmanError, Unreachable
from stockman.ports.environment import Trust
from stockman.s3.location import S3Location
from tests.contract.objects.doors import fresh_world, pieces, whole


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251  # certificates are judged by it


def told(tmp_path: Path, *, trusted: bool) -> tuple[list[StockmanError], int]:
    """What goes wrong, and how many requests arrived."""

    async def story() -> tuple[list[StockmanError], int]:
        world = fresh_world()
        api = world_objects(world, now)
        seen: list[str] = []
        dice = Dice(1).random_bytes
        authority, other = new_authority(now(), dice), new_authority(now(), Dice(2).random_bytes)
        names = names_of_host("storage", "127.0.0.1", "test")
        certificate = new_certificate(authority, names, now(), dice)

        def handle(request: object) -> object:
            seen.append("asked")
            return api.answer(request).outcome  # type: ignore[arg-type]

        server = HttpServer(handle, lambda: world.now, go_rules(body_bytes=1 << 20))  # type: ignore[arg-type]
        port = await server.start("127.0.0.1", 0, lambda: server_context(certificate, tmp_path))
        s3_location = S3Location(
            bucket="flock", endpoint=f"https://127.0.0.1:{port}", region="us-east-1"
        )
        ca = (authority if trusted else other).certificate.pem.encode()
        troubles: list[StockmanError] = []
        async with S3Objects(
            s3_location, world_credentials(world), now, Trust(ca=ca), seconds=10
        ) as objects:
            for call in (
                objects.put("a", pieces(b"wool")),
                whole(objects, "a"),
                objects.list_uploads(),
            ):
                try:
                    await call
                except StockmanError as error:
                    troubles.append(error)
        await server.stop()
        return troubles, len(seen)

    return asyncio.run(story())


def test_a_storage_whose_ca_is_given_is_used(tmp_path: Path) -> None:
    troubles, requests = told(tmp_path, trusted=True)
    assert troubles == []
    assert requests > 0


def test_a_storage_with_another_certificate_is_sent_nothing(tmp_path: Path) -> None:
    troubles, requests = told(tmp_path, trusted=False)
    assert [type(trouble) for trouble in troubles] == [Unreachable] * 3
    assert requests == 0
    with pytest.raises(Unreachable, match=r"objects\.unreachable"):
        raise troubles[0]
    assert all("certificate" in trouble.problem.why for trouble in troubles)
