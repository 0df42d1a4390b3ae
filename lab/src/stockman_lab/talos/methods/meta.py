"""Values in META."""

from __future__ import annotations

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Call, Refusal
from stockman_lab.talos.api.registry import Fields, method
from stockman_lab.talos.disk import TalosDisk

_SERVICE = "machine.MachineService"
_LARGEST_KEY = 255
_ROOM = 256 << 10


def _disk(call: Call) -> TalosDisk:
    disk = call.machine.disk
    if disk is None:
        raise Refusal(GrpcCode.UNKNOWN, "META partition is not available")
    return disk


def _check_key(call: Call) -> int:
    key = int(call.request.key)
    if key > _LARGEST_KEY:
        raise Refusal(GrpcCode.INVALID_ARGUMENT, "key must be a uint8")
    return key


@method(_SERVICE, "MetaWrite")
def write(call: Call) -> Fields:
    """Set a value."""
    key, disk = _check_key(call), _disk(call)
    room = sum(len(one) * 3 // 4 for name, one in disk.meta.items() if name != str(key))
    if room + len(call.request.value) > _ROOM:
        raise Refusal(GrpcCode.RESOURCE_EXHAUSTED, "meta write failed")
    disk.write_meta(key, bytes(call.request.value))
    call.land.changed()
    return {}


@method(_SERVICE, "MetaDelete")
def delete(call: Call) -> Fields:
    """Take a value away."""
    key, disk = _check_key(call), _disk(call)
    if disk.meta.pop(str(key), None) is None:
        raise Refusal(GrpcCode.NOT_FOUND, "meta key not found")
    call.land.changed()
    return {}
