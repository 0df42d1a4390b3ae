"""The health of a cluster."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Sequence

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Call, Cut, Refusal
from stockman_lab.talos.api.registry import Fields, streamed
from stockman_lab.talos.following import Session
from stockman_lab.talos.health import CHECKS, Check, CheckFailed, CheckSkipped, Subject, quoted

_NANOSECONDS = 1e9
_TOO_LATE = "context deadline exceeded"
_OK, _SKIP, _RUNNING = "OK", "SKIP", "..."


@streamed("cluster.ClusterService", "HealthCheck")
async def health_check(call: Call) -> AsyncIterator[Fields]:
    """Check after check until all pass or the time is up; a line is not repeated."""
    timeout = call.request.wait_timeout
    deadline = call.now + timeout.seconds + timeout.nanos / _NANOSECONDS
    subject = _subject(call)
    yield {"message": f"discovered nodes: {quoted(subject.addresses)}"}
    session, last = Session(call), ""
    for check in CHECKS:
        if call.now >= deadline:
            raise Refusal(GrpcCode.DEADLINE_EXCEEDED, _TOO_LATE)
        async for outcome in _outcomes(subject, check, deadline):
            if not session.lasts:
                raise Cut
            line = f"waiting for {check.name}: {outcome}".strip()
            if line != last:
                yield {"message": line}
                last = line


async def _outcomes(subject: Subject, check: Check, deadline: float) -> AsyncIterator[str]:
    """Outcomes of a check until it passes."""
    call = subject.call
    end = deadline if call.machine.at_least("1.13") else min(deadline, call.now + check.limit)
    yield _RUNNING
    while True:
        start = call.now
        outcome = _outcome(subject, check)
        yield outcome
        if outcome in (_OK, _SKIP):
            return
        await call.sleep(max(min(start + check.interval, end) - call.now, 0.001))
        if call.now >= end:
            raise Refusal(GrpcCode.DEADLINE_EXCEEDED, _TOO_LATE)


def _outcome(subject: Subject, check: Check) -> str:
    try:
        check.run(subject)
    except CheckSkipped:
        return _SKIP
    except CheckFailed as error:
        return str(error)
    return _OK


def _subject(call: Call) -> Subject:
    """The nodes that the request names, or all members that the machine knows of."""
    info = call.request.cluster_info
    if info.control_plane_nodes or info.worker_nodes:
        return Subject(
            call, _check_addresses(info.control_plane_nodes), _check_addresses(info.worker_nodes)
        )
    members = [member for member in call.land.members(call.machine) if member.address]
    members.sort(key=lambda member: member.hostname)
    return Subject(
        call,
        tuple(member.address for member in members if member.is_controlplane),
        tuple(member.address for member in members if not member.is_controlplane),
    )


def _check_addresses(texts: Sequence[str]) -> tuple[str, ...]:
    for text in texts:
        try:
            ipaddress.ip_address(text)
        except ValueError:
            message = f'ParseAddr("{text}"): unable to parse IP'
            raise Refusal(GrpcCode.UNKNOWN, message) from None
    return tuple(texts)
