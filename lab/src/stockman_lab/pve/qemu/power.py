"""Power of virtual machines: what is switched on boots from what its disks hold."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.core.faults import Effect, Point
from stockman_lab.core.timeline import Arguments
from stockman_lab.guest.system import GuestSystem
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.context import GuestContext
from stockman_lab.pve.guest_config.update import apply_pending
from stockman_lab.pve.guest_rows import note_rounds
from stockman_lab.pve.qemu.cloud_init_drive import regenerate
from stockman_lab.pve.qemu.drives import free_all
from stockman_lab.pve.qemu.shelf import Shelf
from stockman_lab.pve.qemu.view import START_FAILED, check_hardware, guest_view

OFF = "pve.qemu.off"
UP = "pve.qemu.up"
_COMES_UP = 45.0
"""Seconds after which everything inside of a machine answers."""


def shelf_of(cluster: Cluster, guest: Guest) -> Shelf:
    """The volumes that a guest sees."""
    return Shelf(cluster, cluster.state.hosts[guest.node], guest.vmid)


def system_in(cluster: Cluster, guest: Guest) -> GuestSystem | None:
    """What runs in a machine. None: nothing does."""
    return cluster.around.systems.loaded(guest.inside) if guest.is_running else None


def keep_system(cluster: Cluster, guest: Guest, system: GuestSystem) -> None:
    """Write down what runs in a machine."""
    guest.inside = cluster.around.systems.saved(system)


def _silent(_line: str) -> None:
    return None


def power_on(cluster: Cluster, guest: Guest, log: Callable[[str], None] = _silent) -> None:
    """Switch a machine on: what waited is applied, and what its disks hold boots."""
    host = cluster.state.hosts[guest.node]
    _apply_waiting(cluster, guest)
    check_hardware(cluster, guest, host, log)
    regenerate(cluster, guest)
    host.next_pid += 1
    note_rounds(cluster, guest)
    guest.status, guest.paused, guest.pid = "running", False, host.next_pid
    guest.started_at = guest.changed_at = cluster.now
    boot(cluster, guest)


def power_off(cluster: Cluster, guest: Guest) -> None:
    """Take the power from a machine."""
    cluster.around.systems.lost_power(guest.inside, cluster.now)
    note_rounds(cluster, guest)
    guest.status, guest.paused, guest.halted, guest.pid = "stopped", False, "", 0
    guest.started_at, guest.inside = 0.0, {}
    guest.changed_at = cluster.now


def boot(cluster: Cluster, guest: Guest) -> None:
    """Let a machine with power begin from its firmware."""
    fault = cluster.fault(Point.BOOT, _facts(guest))
    if fault is not None and fault.effect is Effect.FAIL:
        power_off(cluster, guest)
        raise cluster.raise_fault(fault, START_FAILED)
    before = cluster.around.systems.loaded(guest.inside)
    guest.inside = {}
    if fault is not None and fault.effect is Effect.HANG:
        return
    view = guest_view(cluster, guest)
    system = cluster.around.systems.booting(view)
    if system is None:
        return
    if before is not None and before.kind == system.kind:
        system = before
    late = fault.seconds if fault is not None and fault.effect is Effect.DELAY else 0.0
    system.booted(view, cluster.now + late, cluster.around.dice)
    keep_system(cluster, guest, system)
    arguments = {"cluster": cluster.name, "vmid": guest.vmid}
    cluster.around.timeline.after(late + _COMES_UP, UP, arguments)


def came_up(cluster: Cluster, arguments: Arguments) -> None:
    """A machine that booted has had its time, so that who never waits sees it up."""
    guest = cluster.state.guests.get(int(str(arguments["vmid"])))
    if guest is not None and guest.is_running:
        guest.changed_at = min(guest.changed_at, cluster.now)


def notice_change(cluster: Cluster, guest: Guest) -> None:
    """Tell what runs in a machine that its hardware changed."""
    system = system_in(cluster, guest)
    if system is not None:
        system.changed(guest_view(cluster, guest), cluster.now)
        keep_system(cluster, guest, system)


def seconds_to_shut_down(cluster: Cluster, guest: Guest) -> float | None:
    """How long a machine takes after its button was pressed. None: it does not care."""
    fault = cluster.fault(Point.SHUTDOWN, _facts(guest))
    if fault is not None and fault.effect is Effect.HANG:
        return None
    system = system_in(cluster, guest)
    if system is None:
        return None
    seconds = system.shutdown(cluster.now, cluster.around.dice)
    keep_system(cluster, guest, system)
    if seconds is None or fault is None:
        return seconds
    return seconds + fault.seconds


def press_button(cluster: Cluster, guest: Guest) -> None:
    """Ask a machine to shut down, and do not wait for it."""
    seconds = seconds_to_shut_down(cluster, guest)
    if seconds is not None:
        arguments = {"cluster": cluster.name, "vmid": guest.vmid, "since": guest.started_at}
        cluster.around.timeline.after(seconds, OFF, arguments)


def went_off(cluster: Cluster, arguments: Arguments) -> None:
    """A machine has shut down by itself, if it is still the one that was asked to."""
    guest = cluster.state.guests.get(int(str(arguments["vmid"])))
    if guest is not None and guest.is_running and guest.started_at == arguments["since"]:
        power_off(cluster, guest)


def _facts(guest: Guest) -> dict[str, object]:
    return {"node": guest.node, "vmid": guest.vmid, "name": guest.name}


def _apply_waiting(cluster: Cluster, guest: Guest) -> None:
    if not guest.config.has_pending:
        return
    shelf = shelf_of(cluster, guest)
    context = GuestContext(vmid=guest.vmid, running=False, owns=shelf.owns)
    free_all(shelf, apply_pending(guest.config, context).freed)
