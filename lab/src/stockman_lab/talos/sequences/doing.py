"""What phases of sequences do to a machine, at their beginning and at their end."""

from __future__ import annotations

from stockman_lab.talos.disk import EPHEMERAL, STATE, TalosDisk
from stockman_lab.talos.disks import device_of
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.services import running as services
from stockman_lab.talos.services.table import EARLY, LATE
from stockman_lab.talos.state import Running, Stage


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


KEXEC = "talos.kexec"
_EARLY = frozenset(one.id for one in EARLY) | {"apid", "trustd"}


def begun(machine: Machine, running: Running, phase: str) -> bool:
    """A phase begins; returns whether it goes on, and is over after its time."""
    from stockman_lab.talos.sequences import installing

    if phase == "install":
        return installing.begin_install(machine, running)
    if phase == "startEverything":
        start_everything(machine)
    elif phase == "drain" and machine.land.kubernetes is not None:
        return not machine.land.kubernetes.drain(machine)
    elif phase == "stopServices":
        for name in [service for service in machine.state.services if service not in _EARLY]:
            services.stop(machine, name)
        machine.state.kubernetes.static_pods_ready_at = None
        machine.state.kubernetes.node_ready = False
    return True


def ended(machine: Machine, running: Running, phase: str) -> bool:
    """A phase is over; returns whether the next one begins."""
    from stockman_lab.talos.sequences import installing

    if phase == "install":
        return installing.finish_install(machine, running)
    if phase == "upgrade":
        return installing.finish_upgrade(machine, running)
    if phase == "ephemeral":
        _make_partitions(machine)
    elif phase == "kexec":
        running.arguments["kexec"] = True
    elif phase == "leave":
        leave_etcd(machine)
    elif phase == "preReset":
        machine.state.took_leave = True
        machine.land.changed()
    elif phase in ("reset", "resetSpec"):
        wipe_system(machine, running)
    elif phase == "resetUserDisks":
        wipe_user_disks(machine, running)
    elif phase == "stopEverything":
        _stop_everything(machine)
    elif phase == "startEverything":
        _came_up(machine)
    elif phase == "reboot":
        _reboot(machine, running)
        return False
    elif phase == "shutdown":
        machine.note("power off")
        machine.land.power_off(machine)
        return False
    return True


def start_everything(machine: Machine) -> None:
    """Start all services of a machine that has its disks."""
    from stockman_lab.talos.extensions import extension_services

    for kind in LATE:
        if machine.is_controlplane or not kind.only_controllers:
            services.start(machine, kind.id)
    for name in extension_services(machine):
        services.start(machine, name)


def _make_partitions(machine: Machine) -> None:
    disk = machine.disk
    if disk is None:
        return
    for partition in (STATE, EPHEMERAL):
        if not disk.has(partition):
            machine.note(f"volume {partition} was provisioned")
            disk.make(partition)


def _stop_everything(machine: Machine) -> None:
    for name in list(machine.state.services):
        services.stop(machine, name)
    machine.state.api = ""
    machine.land.went_quiet(machine)


def _came_up(machine: Machine) -> None:
    machine.state.stage, machine.state.failures = Stage.RUNNING, 0
    disk = machine.disk
    if disk is not None:
        disk.came_up()


def _reboot(machine: Machine, running: Running) -> None:
    machine.state.sequence = None
    if machine.state.api:  # nobody stopped it before
        machine.state.api = ""
        machine.land.went_quiet(machine)
    if running.arguments.get("kexec") and machine.disk is not None and machine.disk.is_installed:
        machine.after(0.0, KEXEC)
    else:
        machine.land.reset(machine)
