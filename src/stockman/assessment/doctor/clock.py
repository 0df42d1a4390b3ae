"""Checks of time servers and of the clock of this machine."""

from __future__ import annotations

import statistics
from collections.abc import Coroutine, Iterator
from functools import partial
from typing import Any

from stockman.assessment.doctor.check import (
    CheckInput,
    CheckResult,
    Question,
    check,
    fail,
    ok,
    unknown,
    warn,
)
from stockman.assessment.doctor.servers import Endpoint, origin_of_key, time_servers
from stockman.ports.environment import Network, NoAnswer

_NOTICEABLE = 2.0
_TOO_FAR = 60.0
"""Seconds; certificates issued here would not be valid yet on the nodes."""
_SET = "set the clock and keep it set: `timedatectl set-ntp true`, or run chrony"


@check("reach.ntp")
def servers(scene: CheckInput) -> Iterator[Question]:
    """The time servers of the nodes answer."""
    key = origin_of_key(scene.estate.network, "ntp_servers", "network.ntp_servers")
    for server in time_servers(scene.estate):
        yield Question(subject=server, ask=partial(_query_server, server, key))


@check("machine.clock")
def offset(scene: CheckInput) -> Iterator[Question]:
    """The clock of this machine agrees with others."""
    webs = tuple(server for server in scene.servers if server.web or server.tls)
    yield Question(subject="clock", ask=partial(_compare_clocks, time_servers(scene.estate), webs))


async def _query_server(server: str, key: str, network: Network) -> tuple[CheckResult, ...]:
    subject = f"time server {server}"
    try:
        ahead = await network.ntp_clock(server)
    except NoAnswer as none:
        fix = f"check {key}, and that questions to UDP port 123 may pass"
        return (warn(subject, f"{none}; nodes may still reach it", fix),)
    return (ok(subject, f"it answers, {_describe_offset(ahead)}"),)


async def _compare_clocks(
    servers: tuple[str, ...], webs: tuple[Endpoint, ...], network: Network
) -> tuple[CheckResult, ...]:
    import asyncio

    async with asyncio.TaskGroup() as group:
        by_ntp = [
            group.create_task(_result_or_none(network.ntp_clock(server))) for server in servers
        ]
        by_web = [
            group.create_task(_result_or_none(network.http_clock(server.server, tls=server.tls)))
            for server in webs
        ]
    exact = [offset_ for task in by_ntp if (offset_ := task.result()) is not None]
    rough = [offset_ for task in by_web if (offset_ := task.result()) is not None]
    return (
        _assess_offsets(exact, "time servers") if exact else _assess_offsets(rough, "web servers"),
    )


def _assess_offsets(aheads: list[float], whose: str) -> CheckResult:
    if not aheads:
        return unknown(
            "clock",
            "neither a time server nor a web server answered",
            "compare `date -u` with a clock that you trust",
        )
    ahead = statistics.median(aheads)
    count = len(aheads)
    summary = (
        f"{_describe_offset(ahead)}, by {count} {whose.removesuffix('s') if count == 1 else whose}"
    )
    if max(aheads) - min(aheads) > _TOO_FAR:
        spread = length(max(aheads) - min(aheads))
        return warn("clock", f"{whose} disagree by {spread}", f"ask others; {_SET}")
    if abs(ahead) > _TOO_FAR:
        return fail("clock", summary, _SET)
    if abs(ahead) > _NOTICEABLE:
        return warn("clock", summary, _SET)
    return ok("clock", summary)


async def _result_or_none(request: Coroutine[Any, Any, float]) -> float | None:
    try:
        return await request
    except NoAnswer:
        return None


def _describe_offset(ahead: float) -> str:
    """Describe the offset of other clocks as the offset of this machine."""
    return f"this machine is {length(abs(ahead))} {'behind' if ahead > 0 else 'ahead'}"


def length(seconds: float) -> str:
    """Format a duration for people."""
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.2f} s"


CHECKS = (servers, offset)
