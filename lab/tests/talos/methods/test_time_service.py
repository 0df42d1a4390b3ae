"""Clocks through the API."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.talos.api.call import Refusal

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from stockman.talos.api.transport import GrpcCode


def test_the_clock_is_right_and_the_first_server_is_asked() -> None:
    world = staged()
    node = machine(world)
    result = Asking(world, node).call("time.TimeService/Time")
    config = node.config
    assert config is not None
    assert result.server == config.time_servers[0]
    assert result.localtime == result.remotetime
    assert result.localtime.seconds == int(world.now)


def test_a_clock_that_is_off_shows() -> None:
    world = staged()
    world.faults.add(Fault(Point.CLOCK, Effect.LIE, {}, seconds=-90.0, times=None))
    result = Asking(world, machine(world)).call("time.TimeService/TimeCheck", server="127.0.0.9")
    assert result.server == "127.0.0.9"
    assert result.remotetime.seconds - result.localtime.seconds == 90


@pytest.mark.parametrize(
    ("server", "code", "message"),
    [
        ("", GrpcCode.INVALID_ARGUMENT, "ntp server is required"),
        ("/dev/ptp0", GrpcCode.UNKNOWN, 'error querying PTP device "/dev/ptp0"'),
    ],
)
def test_servers_that_are_none_are_refused(server: str, code: GrpcCode, message: str) -> None:
    world = staged()
    with pytest.raises(Refusal, match=message) as caught:
        Asking(world, machine(world)).call("time.TimeService/TimeCheck", server=server)
    assert caught.value.code is code
