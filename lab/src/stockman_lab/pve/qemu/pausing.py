"""Workers that halt virtual machines: in memory, or with their memory on a storage."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.hardware import current_memory
from stockman_lab.pve.formats.new_volume import state_name
from stockman_lab.pve.formats.sizes import MIB
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_rows import used_memory_of
from stockman_lab.pve.qemu.drives import drives_of
from stockman_lab.pve.qemu.file_lock import GuestWork, refuse_locked
from stockman_lab.pve.qemu.power import power_off, power_on, shelf_of
from stockman_lab.pve.releases import release_of
from stockman_lab.pve.storage import Volume
from stockman_lab.pve.workers import Job, register

_DRIVER_STATE = 500
_SECONDS = (0.2, 0.6)
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
        storage = space.configured(cluster, name)
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


@register
class Pause(GuestWork):
    """Halts a machine; everything stays where it is."""

    name: ClassVar[str] = "qemu.pause"

    def check(self, job: Job, guest: Guest) -> float:
        refuse_locked(job.cluster, guest, skip=bool(job.arguments.get("skiplock")))
        return job.cluster.around.dice.between(*_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        if guest.is_running:
            guest.paused, guest.changed_at = True, job.cluster.now


@register
class Suspend(GuestWork):
    """Writes the memory of a machine on a storage, and switches it off."""

    name: ClassVar[str] = "qemu.suspend"

    def check(self, job: Job, guest: Guest) -> float:
        refuse_locked(job.cluster, guest, skip=bool(job.arguments.get("skiplock")))
        guest.config.values["lock"] = "suspending"
        return seconds_to_save(guest)

    def do(self, job: Job, guest: Guest) -> None:
        today = datetime.fromtimestamp(job.cluster.now, UTC).date()
        saved = save_memory(job.cluster, guest, f"suspend-{today}", job.text("statestorage"))
        guest.config.values |= memory_values(job.cluster, saved) | {"lock": "suspended"}
        power_off(job.cluster, guest)

    def abort(self, job: Job) -> None:
        guest = job.cluster.state.guests.get(job.number("vmid"))
        if guest is not None and guest.lock == "suspending":
            del guest.config.values["lock"]


@register
class Resume(GuestWork):
    """Lets a machine go on that was halted, or was written on a storage."""

    name: ClassVar[str] = "qemu.resume"

    def check(self, job: Job, guest: Guest) -> float:
        skip = bool(job.arguments.get("skiplock")) or guest.lock in ("suspended", "backup")
        refuse_locked(job.cluster, guest, skip=skip)
        return job.cluster.around.dice.between(*_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        if guest.lock == "suspended":
            job.log("Resuming suspended VM")
            power_on(job.cluster, guest, job.log)
            job.log("Resumed VM, removing state")
        elif not guest.is_running:
            raise die(f"VM {guest.vmid} not running")
        guest.paused, guest.changed_at = False, job.cluster.now
