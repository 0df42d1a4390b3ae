"""Workers that pause and resume virtual machines, and memory that is saved on a storage."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.hardware import current_memory
from stockman_lab.pve.formats.sizes import MIB
from stockman_lab.pve.formats.volume_name import state_name, storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_rows import used_memory_of
from stockman_lab.pve.qemu.drives import drives_of
from stockman_lab.pve.qemu.file_lock import GuestWork, refuse_locked
from stockman_lab.pve.qemu.power import shelf_of
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
class Resume(GuestWork):
    """Lets a machine go on that was halted, or was written on a storage."""

    name: ClassVar[str] = "qemu.resume"

    def check(self, job: Job, guest: Guest) -> float:
        skip = bool(job.arguments.get("skiplock")) or guest.lock == "backup"
        refuse_locked(job.cluster, guest, skip=skip)
        return job.cluster.around.dice.between(*_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        if not guest.is_running:
            raise die(f"VM {guest.vmid} not running")
        guest.paused, guest.changed_at = False, job.cluster.now
