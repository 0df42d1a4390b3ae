"""Faults at calls do what their names say."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.talos.api.call import Cut, Refusal

from lab.tests.talos.api.pretended import Asking, PretendedLand, PretendedMachine
from stockman.talos.api.transport import GrpcCode
from stockman.talos.wire.values import Fields

VERSION = "/machine.MachineService/Version"
REBOOT = "/machine.MachineService/Reboot"
READ = "/machine.MachineService/Read"


class Struck:
    """A machine whose calls meet a fault."""

    def __init__(self, effect: Effect, **more: Any) -> None:
        self.machine = PretendedMachine("m1", ["127.0.0.2"])
        self.land = PretendedLand(self.machine)
        self.asking = Asking(self.land)
        self.land.faults.add(Fault(Point.TALOS_CALL, effect, **more))

    def ask(self, path: str, request: Fields | None = None) -> Any:
        return asyncio.run(self.asking.all(self.machine, path, request))


def test_a_call_fails_with_the_code_that_is_wanted() -> None:
    struck = Struck(Effect.FAIL, status=9, message="not now")

    with pytest.raises(Refusal) as raised:
        struck.ask(VERSION)

    assert (raised.value.code, raised.value.message) == (GrpcCode.FAILED_PRECONDITION, "not now")


def test_a_call_fails_as_if_nobody_was_there() -> None:
    with pytest.raises(Refusal) as raised:
        Struck(Effect.FAIL).ask(VERSION)

    assert raised.value.code is GrpcCode.UNAVAILABLE


@pytest.mark.parametrize(
    "match",
    [
        {"method": "Reboot"},
        {"service": "machine.*", "method": "Re*"},
        {"role": "os:admin", "machine": "m1", "address": "127.0.0.*"},
    ],
)
def test_only_calls_that_are_meant_meet_it(match: dict[str, str]) -> None:
    struck = Struck(Effect.FAIL, match=match | {"method": "Reboot"})

    assert struck.ask(VERSION)
    with pytest.raises(Refusal):
        struck.ask(REBOOT)


def test_a_delay_takes_its_time() -> None:
    struck = Struck(Effect.DELAY, seconds=7.0)

    assert struck.ask(VERSION)
    assert struck.asking.patience.slept == pytest.approx(7.0)


@pytest.mark.parametrize(
    ("effect", "error"), [(Effect.DO_THEN_FAIL, Refusal), (Effect.DO_THEN_CUT, Cut)]
)
def test_what_was_asked_for_is_done_all_the_same(effect: Effect, error: type[Exception]) -> None:
    struck = Struck(effect)

    with pytest.raises(error):
        struck.ask(REBOOT)

    assert struck.asking.patience.slept == pytest.approx(1.0)


@pytest.mark.parametrize(("effect", "error"), [(Effect.FAIL, Refusal), (Effect.CUT, Cut)])
def test_nothing_is_done(effect: Effect, error: type[Exception]) -> None:
    struck = Struck(effect)

    with pytest.raises(error):
        struck.ask(REBOOT)

    assert struck.asking.patience.slept == 0


def test_a_claim_does_nothing_and_looks_well() -> None:
    struck = Struck(Effect.CLAIM)

    assert struck.ask(REBOOT) == [{"messages": [{}]}]
    assert struck.asking.patience.slept == 0


def test_a_lie_is_what_was_answered_first() -> None:
    struck = Struck(Effect.LIE, times=None)
    before = struck.ask(VERSION)
    struck.machine.minor = "1.14"

    assert struck.ask(VERSION) == before


def test_bytes_arrive_damaged() -> None:
    (found,) = Struck(Effect.CORRUPT).ask(READ, {"path": "abcdefgh"})

    assert found["bytes"] != b"abcdefgh"
    assert len(found["bytes"]) == len(b"abcdefgh")


def test_a_call_that_hangs_never_ends() -> None:
    struck = Struck(Effect.HANG)

    async def hang() -> None:
        async with asyncio.timeout(0):
            await struck.asking.all(struck.machine, VERSION)

    with pytest.raises(TimeoutError):
        asyncio.run(hang())
