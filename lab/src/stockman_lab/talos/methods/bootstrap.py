"""The beginning of a cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos import etcd_member
from stockman_lab.talos.api.call import Call, Refusal
from stockman_lab.talos.api.controlplane import not_here
from stockman_lab.talos.api.registry import Fields, method, uploaded
from stockman_lab.talos.disk import EPHEMERAL

_SERVICE = "machine.MachineService"


@method(_SERVICE, "Bootstrap")
def bootstrap(call: Call) -> Fields:
    """Begin etcd on this machine."""
    machine = call.machine
    waits = machine.at_least("1.14") and (machine.state.installing or machine.state.pending_install)
    if not machine.runs("cri") or waits:
        raise Refusal(GrpcCode.FAILED_PRECONDITION, "bootstrap is not available yet")
    if not machine.is_controlplane and not machine.at_least("1.13"):
        raise Refusal(
            GrpcCode.FAILED_PRECONDITION, "bootstrap can only be performed on a control plane node"
        )
    if not machine.is_controlplane:
        raise not_here("bootstrap", configured=machine.config is not None)
    config = machine.config
    if machine.at_least("1.14") and config is not None and not config.etcd_ca.crt:
        raise Refusal(
            GrpcCode.INVALID_ARGUMENT, "etcd is not configured, bootstrap is not possible"
        )
    if not machine.state.is_time_synced or abs(machine.clock - machine.now) > 5.0:
        raise Refusal(GrpcCode.FAILED_PRECONDITION, "time is not in sync yet")
    disk = machine.disk
    # Recorded: until etcd has written its data, every call is accepted (Talos 1.13.9).
    if disk is None or disk.etcd:
        raise Refusal(GrpcCode.ALREADY_EXISTS, "etcd data directory is not empty")
    request = call.request
    if request.recover_etcd and not disk.recovery:
        raise Refusal(
            GrpcCode.FAILED_PRECONDITION,
            "etcd snapshot is not uploaded: stat /var/lib/etcd.snapshot: no such file or directory",
        )
    etcd_member.bootstrap(
        machine, recover=request.recover_etcd, skip_hash=request.recover_skip_hash_check
    )
    return {}


@uploaded(_SERVICE, "EtcdRecover")
async def recover(call: Call, pieces: AsyncIterator[Any]) -> Fields:
    """Take the file of a snapshot, for a bootstrap that follows."""
    machine = call.machine
    content = bytearray()
    async for piece in pieces:
        content += piece.bytes
    disk = machine.disk
    if disk is None or not disk.has(EPHEMERAL):
        raise Refusal(GrpcCode.FAILED_PRECONDITION, "etcd service is not ready for recovery yet")
    blobs = machine.land.around.blobs
    name = blobs.put(bytes(content))
    blobs.hold(name)
    if disk.recovery:
        blobs.release(disk.recovery)
    disk.recovery = name
    return {}
