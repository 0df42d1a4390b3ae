"""Sockets of a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.refusal import Refusal
from stockman_lab.talos.api.registry import Fields, method
from stockman_lab.talos.figures.sockets import Socket, sockets

if TYPE_CHECKING:
    from stockman.talos.wire.values import Dynamic

_ALL, _CONNECTED, _LISTENING = 0, 1, 2
_ANYBODY = {"tcp": "0.0.0.0", "udp": "0.0.0.0", "tcp6": "::", "udp6": "::"}


@method("machine.MachineService", "Netstat")
def netstat(call: Call) -> Fields:
    """Sockets of the host; pods have no network of their own here."""
    request = call.request
    if request.filter not in (_ALL, _CONNECTED, _LISTENING):
        raise Refusal(GrpcCode.INVALID_ARGUMENT, f"invalid filter: {request.filter}")
    if not request.netns.hostnetwork:
        return {"connectrecord": []}
    found = [socket for socket in sockets(call.machine) if _is_wanted(request, socket)]
    return {"connectrecord": [_record(one, with_pid=request.feature.pid) for one in found]}


def _is_wanted(request: Dynamic, socket: Socket) -> bool:
    if not getattr(request.l4proto, socket.protocol):
        return False
    if request.filter == _LISTENING:
        return socket.is_open
    return request.filter == _ALL or not socket.is_open


def _record(socket: Socket, *, with_pid: bool) -> Fields:
    process: dict[str, object] = {}
    if with_pid and socket.pid:
        process = {"pid": socket.pid, "name": socket.program}
    return {
        "l4proto": socket.protocol,
        "localip": socket.local,
        "localport": socket.port,
        "remoteip": socket.remote or _ANYBODY[socket.protocol],
        "remoteport": socket.remote_port,
        "state": socket.state,
        "uid": socket.uid,
        "inode": socket.inode,
        "process": process,
    }
