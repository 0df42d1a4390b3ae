"""Reboot, shutdown, reset, rollback."""

from __future__ import annotations

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos import acting
from stockman_lab.talos.api.call import Call, Refusal
from stockman_lab.talos.api.registry import Fields, method
from stockman_lab.talos.disk import BOOT, EFI, EPHEMERAL, META, SD_BOOT, STATE
from stockman_lab.talos.disks import disk_at
from stockman_lab.talos.state import Stage

_SERVICE = "machine.MachineService"
_MODES = {0: "default", 1: "powercycle", 2: "force"}
_ALL, _SYSTEM_DISK, _USER_DISKS = range(3)
_NO_LABEL = 'cannot rollback to "", label does not exist'
_VOLUMES = (STATE, EPHEMERAL, META, BOOT, EFI, "BIOS")


@method(_SERVICE, "Reboot")
def reboot(call: Call) -> Fields:
    """Boot again."""
    return {"actor_id": acting.reboot(call.machine, _MODES.get(call.request.mode, "default"))}


@method(_SERVICE, "Shutdown")
def shutdown(call: Call) -> Fields:
    """Switch off."""
    return {"actor_id": acting.shut_down(call.machine, force=call.request.force)}


@method(_SERVICE, "Rollback")
def rollback(call: Call) -> Fields:
    """Boot what was installed before."""
    disk = call.machine.disk
    if disk is None or not call.machine.state.slot:
        raise Refusal(GrpcCode.FAILED_PRECONDITION, "system disk not found")
    if not acting.roll_back(call.machine, disk):
        is_stub = disk.bootloader == SD_BOOT
        why = "previous UKI not found" if is_stub else _NO_LABEL
        raise Refusal(GrpcCode.UNKNOWN, why)
    return {}


@method(_SERVICE, "Reset")
def reset(call: Call) -> Fields:
    """Wipe partitions or disks."""
    request = call.request
    labels = [
        system_partition.label
        for system_partition in request.system_partitions_to_wipe
        if system_partition.wipe
    ]
    wipes = [system_partition.label for system_partition in request.system_partitions_to_wipe]
    _check_reset(call, wipes)
    options = {"graceful"} if request.graceful else set()
    if not request.reboot:
        options.add("shutdown")
    if labels:
        options.add("partitions")
    if request.mode == _USER_DISKS:
        options.add("user-disks")
    if request.user_disks_to_wipe:
        options.add("wipes-user-disks")
    actor = acting.reset(call.machine, frozenset(options), labels, request.user_disks_to_wipe)
    return {"actor_id": actor}


def _check_reset(call: Call, labels: list[str]) -> None:
    request, machine = call.request, call.machine
    if machine.state.stage is Stage.MAINTENANCE and not machine.at_least("1.13") and labels:
        raise Refusal(
            GrpcCode.FAILED_PRECONDITION,
            "system partitions can't be wiped in maintenance mode",
        )
    if request.mode == _USER_DISKS and labels:
        raise Refusal(
            GrpcCode.UNKNOWN,
            "reset failed: invalid input, wipe mode USER_DISKS doesn't support"
            " SystemPartitionsToWipe parameter",
        )
    if request.mode == _SYSTEM_DISK and request.user_disks_to_wipe:
        raise Refusal(
            GrpcCode.UNKNOWN,
            "reset failed: invalid input, wipe mode SYSTEM_DISK doesn't support UserDisksToWipe"
            " parameter",
        )
    view = machine.view
    for path in request.user_disks_to_wipe:
        disk = disk_at(view, path)
        if disk is None:
            raise _of_disk(path, "wasn't found")
        if disk.is_cdrom:
            raise _of_disk(path, "is readonly")
        if disk.slot == machine.state.system_disk:
            raise _of_disk(path, "is the system disk")
    for label in labels:
        if label not in _VOLUMES:
            raise Refusal(
                GrpcCode.UNKNOWN,
                f'failed to get volume status with label "{label}": resource'
                f" VolumeStatuses.block.talos.dev(runtime/{label}@undefined) doesn't exist",
            )


def _of_disk(path: str, why: str) -> Refusal:
    return Refusal(GrpcCode.UNKNOWN, f"reset user disk failed: device {path} {why}")
