"""What a reset takes away."""

from __future__ import annotations

from stockman_lab.talos.disk import EPHEMERAL, TalosDisk
from stockman_lab.talos.disks import device_of
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.state import Running


def leave_etcd(machine: Machine) -> None:
    """Take leave of etcd, and stop it."""
    from stockman_lab.talos import etcd_member
    from stockman_lab.talos.services.running import stop

    try:
        etcd_member.leave(machine)
    except etcd_member.EtcdRefused as refused:
        machine.note(f"failed to leave etcd cluster: {refused}")
    stop(machine, "etcd")


def wipe_system(machine: Machine, running: Running) -> None:
    """Empty partitions, or the whole system disk."""
    disk = machine.disk
    if disk is None:
        return
    labels = running.arguments.get("labels")
    if isinstance(labels, list) and labels:
        for label in map(str, labels):
            machine.note(f"wiping partition {label}")
            disk.wipe(label)
            if label == EPHEMERAL:
                machine.state.images.clear()
        return
    machine.note("wiping system disk")
    disk.wipe_all()
    machine.state.system_disk = ""


def wipe_user_disks(machine: Machine, running: Running) -> None:
    """Empty disks that are not the system's."""
    user_disks = running.arguments.get("user_disks")
    names = set(map(str, user_disks)) if isinstance(user_disks, list) else set()
    view = machine.view
    for disk in view.disks:
        if device_of(view, disk.slot) in names:
            TalosDisk(disk).wipe_all()
