"""Workers that switch virtual machines on and off, and pause them."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve import space, workers
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.hardware import current_memory
from stockman_lab.pve.formats.lists import parse_startup
from stockman_lab.pve.formats.sizes import MIB
from stockman_lab.pve.formats.volume_name import state_name, storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_rows import used_memory_of
from stockman_lab.pve.qemu.drives import drives_of
from stockman_lab.pve.qemu.file_lock import GuestWork, refuse_locked
from stockman_lab.pve.qemu.power import power_off, power_on, seconds_to_shut_down, shelf_of
from stockman_lab.pve.releases import release_of
from stockman_lab.pve.storage import Volume
from stockman_lab.pve.workers import Job, register

_START, _STOP, _RESET = (1.0, 3.0), (1.0, 2.0), (0.2, 0.6)
_SHUTDOWN_TIMEOUT = 60
_AFTER_TERMINATION = 1.0
_GAVE_UP = "_gave_up"


def _flag(job: Job, name: str) -> bool:
    return bool(job.arguments.get(name))


@register
class Start(GuestWork):
    """Switches a machine on."""

    name: ClassVar[str] = "qemu.start"

    def check(self, job: Job, guest: Guest) -> float:
        check_start(job, guest)
        return job.cluster.around.dice.between(*_START)

    def do(self, job: Job, guest: Guest) -> None:
        check_start(job, guest)
        power_on(job.cluster, guest, job.log)


def check_start(job: Job, guest: Guest) -> None:
    """Refuse to start what cannot be started."""
    if guest.is_template:
        raise die("you can't start a vm if it's a template")
    refuse_locked(job.cluster, guest, skip=_flag(job, "skiplock"))
    if guest.is_running:
        raise die(f"VM {guest.vmid} already running")


@register
class Stop(GuestWork):
    """Takes the power from a machine."""

    name: ClassVar[str] = "qemu.stop"

    def begin(self, job: Job) -> float:
        if job.arguments.pop("overrule-shutdown", 0):
            workers.overrule(job, "qmshutdown")
        return super().begin(job)

    def check(self, job: Job, guest: Guest) -> float:
        if not guest.is_running:
            return 0.0
        refuse_locked(job.cluster, guest, skip=_flag(job, "skiplock"))
        return job.cluster.around.dice.between(*_STOP)

    def do(self, job: Job, guest: Guest) -> None:
        power_off(job.cluster, guest)


@register
class Shutdown(GuestWork):
    """Presses the power button, and waits."""

    name: ClassVar[str] = "qemu.shutdown"

    def check(self, job: Job, guest: Guest) -> float:
        if not guest.is_running:
            return 0.0
        refuse_locked(job.cluster, guest, skip=_flag(job, "skiplock"))
        if _flag(job, "is_paused"):
            job.log("VM is paused - stop instead of shutdown")
            return job.cluster.around.dice.between(*_STOP)
        timeout = _timeout(job, guest)
        seconds = seconds_to_shut_down(job.cluster, guest)
        if seconds is not None and seconds < timeout:
            return seconds
        job.arguments[_GAVE_UP] = True
        return timeout + (_AFTER_TERMINATION if _flag(job, "forceStop") else 0.0)

    def do(self, job: Job, guest: Guest) -> None:
        if not guest.is_running:
            return
        if _flag(job, _GAVE_UP):
            if not _flag(job, "forceStop"):
                raise die("VM quit/powerdown failed - got timeout")
            job.log("VM still running - terminating now with SIGTERM")
        power_off(job.cluster, guest)


def _timeout(job: Job, guest: Guest) -> float:
    if "timeout" in job.arguments:
        return float(job.number("timeout"))
    startup = guest.config.values.get("startup", "")
    down = parse_startup(startup).down if startup else None
    return float(down or _SHUTDOWN_TIMEOUT)


@register
class Reboot(Shutdown):
    """Shuts a machine down and switches it on again: what waited is applied.

    It ran when this was asked for; by the end it has often switched itself off, as it was told to.
    """

    name: ClassVar[str] = "qemu.reboot"

    def do(self, job: Job, guest: Guest) -> None:
        super().do(job, guest)
        power_on(job.cluster, guest, job.log)


_DRIVER_STATE = 500
_BYTES_A_SECOND = 500 * MIB


def state_storage(cluster: Cluster, guest: Guest) -> str:
    """Where memory is saved to, unless somebody says something else."""
    chosen = guest.config.values.get("vmstatestorage")
    if chosen:
        return chosen
    best: dict[bool, str] = {}
    for drive in drives_of(guest.config.values):
        name = storage_of(drive.volume) if drive.volume and not drive.is_cdrom else ""
        if not name:
            continue
        storage = space.find_storage(cluster, name)
        if storage.is_shared not in best or storage.path:
            best[storage.is_shared] = name
    return best.get(True) or best.get(False) or "local"


def save_memory(cluster: Cluster, guest: Guest, label: str, storage_id: str = "") -> Volume:
    """Write the memory of a machine on a storage."""
    shelf = shelf_of(cluster, guest)
    storage = shelf.storage(storage_id or state_storage(cluster, guest))
    memory = current_memory(guest.config.values.get("memory", ""))
    size = (memory * 2 + _DRIVER_STATE) * MIB
    allocate = shelf.allocate(storage, size, "raw", state_name(storage.type, guest.vmid, label))
    allocate.used = max(allocate.used, min(used_memory_of(guest), allocate.size))
    return allocate


def memory_values(cluster: Cluster, volume: Volume) -> dict[str, str]:
    """What a configuration says about saved memory."""
    return {
        "vmstate": volume.id,
        "runningmachine": release_of(cluster.state.profile).machine,
        "runningcpu": "kvm64,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+lahf_lm,+sep",
    }


def seconds_to_save(guest: Guest) -> float:
    """How long writing the memory takes."""
    return 1.0 + used_memory_of(guest) / _BYTES_A_SECOND
