"""Logs of services, of pods and of the kernel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.refusal import Refusal
from stockman_lab.talos.api.registry import Fields, method, streamed
from stockman_lab.talos.containers.listing import check
from stockman_lab.talos.figures.containers import SYSTEM
from stockman_lab.talos.figures.pods import pod_of
from stockman_lab.talos.logs.following import followed
from stockman_lab.talos.logs.kernel import kernel_line, kernel_log
from stockman_lab.talos.logs.pods import pod_log
from stockman_lab.talos.logs.services import registered_logs, service_log
from stockman_lab.talos.state import LogLine

_SERVICE = "machine.MachineService"
_KUBELET = "kubelet"
_PIECE = 1024


@streamed(_SERVICE, "Logs")
async def logs(call: Call) -> AsyncIterator[Fields]:
    """The log of a service, or of a container of a pod."""
    request, machine = call.request, call.machine
    if request.namespace != SYSTEM and request.id != _KUBELET:
        for piece in _container_log(call):
            yield piece
        if request.follow:
            async for _ in followed(call, tuple, ()):
                pass
        return
    name = request.id
    if name not in registered_logs(machine):
        raise Refusal(GrpcCode.UNKNOWN, f'log "{name}" was not registered')
    lines = service_log(machine, name)
    for piece in _pieces(
        "".join(f"{log_line.text}\n" for log_line in _tail(lines, request.tail_lines))
    ):
        yield piece
    if not request.follow:
        return
    async for line in followed(call, lambda: service_log(machine, name), lines):
        yield {"bytes": f"{line.text}\n".encode()}


@method(_SERVICE, "LogsContainers")
def logs_containers(call: Call) -> Fields:
    """Names of the logs of the system."""
    return {"ids": registered_logs(call.machine)}


@streamed(_SERVICE, "Dmesg")
async def dmesg(call: Call) -> AsyncIterator[Fields]:
    """The log of the kernel, line by line; from its end on where that is asked for."""
    machine, request = call.machine, call.request
    lines = kernel_log(machine)
    if not request.tail:
        for line in lines:
            yield {"bytes": kernel_line(line)}
    if not request.follow:
        return
    async for line in followed(call, lambda: kernel_log(machine), lines):
        yield {"bytes": kernel_line(line)}


def _container_log(call: Call) -> Iterator[Fields]:
    request, machine = call.request, call.machine
    check(machine, request.namespace, request.driver)
    found = pod_of(machine, request.id)
    if found is None:
        raise Refusal(GrpcCode.UNKNOWN, f'container "{request.id}" not found')
    pod, is_container = found
    if not is_container:
        raise Refusal(GrpcCode.UNKNOWN, "no log available")
    lines = pod_log(machine, pod).decode().splitlines(keepends=True)
    if request.tail_lines >= 0:
        lines = lines[len(lines) - min(request.tail_lines, len(lines)) :]
    return _pieces("".join(lines))


def _tail(lines: Sequence[LogLine], count: int) -> Sequence[LogLine]:
    """So many lines from the end; below zero: all of them."""
    return lines if count < 0 else lines[len(lines) - min(count, len(lines)) :]


def _pieces(text: str) -> Iterator[Fields]:
    content = text.encode()
    for place in range(0, len(content), _PIECE):
        yield {"bytes": content[place : place + _PIECE]}
