"""Logs of services and of the kernel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Call, Refusal
from stockman_lab.talos.api.registry import Fields, method, streamed
from stockman_lab.talos.following import followed
from stockman_lab.talos.logs import kernel_line, kernel_log, registered_logs, service_log
from stockman_lab.talos.state import LogLine

_SERVICE = "machine.MachineService"
_SYSTEM, _KUBELET = "system", "kubelet"
_CHUNK = 1024


@streamed(_SERVICE, "Logs")
async def logs(call: Call) -> AsyncIterator[Fields]:
    """The log of a service. Logs of pods are read through the Kubernetes API only."""
    request, machine = call.request, call.machine
    name = request.id
    if request.namespace != _SYSTEM and name != _KUBELET:
        raise Refusal(GrpcCode.UNKNOWN, f'container "{name}" not found')
    if name not in registered_logs(machine):
        raise Refusal(GrpcCode.UNKNOWN, f'log "{name}" was not registered')
    lines = service_log(machine, name)
    text = "".join(f"{line.text}\n" for line in _tail(lines, request.tail_lines)).encode()
    for start in range(0, len(text), _CHUNK):
        yield {"bytes": text[start : start + _CHUNK]}
    if not request.follow:
        return
    async for line in followed(call, lambda: service_log(machine, name), lines):
        yield {"bytes": f"{line.text}\n".encode()}


@method(_SERVICE, "LogsContainers")
def logs_containers(call: Call) -> Fields:
    """Names of the logs of services."""
    return {"ids": registered_logs(call.machine)}


@streamed(_SERVICE, "Dmesg")
async def dmesg(call: Call) -> AsyncIterator[Fields]:
    """The log of the kernel, line by line; only new lines where that is asked for."""
    machine, request = call.machine, call.request
    lines = kernel_log(machine)
    if not request.tail:
        for line in lines:
            yield {"bytes": kernel_line(line)}
    if not request.follow:
        return
    async for line in followed(call, lambda: kernel_log(machine), lines):
        yield {"bytes": kernel_line(line)}


def _tail(lines: Sequence[LogLine], count: int) -> Sequence[LogLine]:
    """The last lines. A count below zero: all of them."""
    return lines if count < 0 else lines[len(lines) - min(count, len(lines)) :]
