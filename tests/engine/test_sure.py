"""Objects that are created exactly once, whatever a server says meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from stockman.engine.runs import create_object_once
from stockman.model.errors import Conflict, StockmanError
from tests.engine.simulated import JumpClock
from tests.engine.storage import Storage, Stored, trouble


def test_a_refusal_before_anything_is_there_is_asked_about_again() -> None:
    objects = Stored(Storage())
    refusals = [Conflict, Conflict]

    def refuse(call: str, key: str) -> StockmanError | None:
        return trouble(refusals.pop(), key) if call == "create" and refusals else None

    objects.troubles.append(refuse)

    asyncio.run(create_object_once(objects, JumpClock(), "lock/000001.json", b"ours"))

    assert objects.storage.content == {"lock/000001.json": b"ours"}


def test_what_somebody_else_created_is_theirs() -> None:
    objects = Stored(Storage())
    asyncio.run(objects.create("lock/000001.json", b"theirs"))

    with pytest.raises(Conflict):
        asyncio.run(create_object_once(objects, JumpClock(), "lock/000001.json", b"ours"))

    assert objects.storage.content == {"lock/000001.json": b"theirs"}
