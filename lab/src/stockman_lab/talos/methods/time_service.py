"""Clocks: the machine's own, and those of time servers."""

from __future__ import annotations

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Call, Refusal
from stockman_lab.talos.api.registry import Fields, method

_SERVICE = "time.TimeService"
_DEFAULT = "time.cloudflare.com"
_PRECISE = "/dev/ptp"


@method(_SERVICE, "Time")
def time(call: Call) -> Fields:
    """The clock of the machine beside that of its first time server."""
    config = call.machine.config
    servers = config.time_servers if config is not None else ()
    return _compare(call, servers[0] if servers else _DEFAULT)


@method(_SERVICE, "TimeCheck")
def time_check(call: Call) -> Fields:
    """The clock of the machine beside that of a time server."""
    return _compare(call, call.request.server)


def _compare(call: Call, server: str) -> Fields:
    if not server:
        raise Refusal(GrpcCode.INVALID_ARGUMENT, "ntp server is required")
    if server.startswith(_PRECISE):
        raise Refusal(
            GrpcCode.UNKNOWN,
            f'error querying PTP device "{server}": open {server}: no such file or directory',
        )
    return {"server": server, "localtime": call.machine.clock, "remotetime": call.now}
