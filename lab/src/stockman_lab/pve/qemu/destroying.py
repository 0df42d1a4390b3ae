"""The end of virtual machines: disks, rights and entries elsewhere go, the configuration last."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.drive import is_unused
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_ids import forget, forget_traces, refuse_needed
from stockman_lab.pve.qemu.drives import disks_of
from stockman_lab.pve.qemu.file_lock import GuestWork, refuse_locked
from stockman_lab.pve.qemu.power import shelf_of
from stockman_lab.pve.qemu.shelf import Shelf
from stockman_lab.pve.workers import Job, register

_SECONDS = (1.0, 5.0)


def check(cluster: Cluster, guest: Guest, *, purge: bool) -> None:
    """Refuse to destroy what is protected, needed elsewhere, or running."""
    if guest.config.values.get("protection") == "1":
        raise die(f"can't remove VM {guest.vmid} - protection mode enabled")
    if not purge:
        refuse_needed(cluster, guest)
    if guest.is_running:
        raise die(f"VM {guest.vmid} is running - destroy failed")


@register
class Destroy(GuestWork):
    """Destroys a machine with everything that is its own."""

    name: ClassVar[str] = "qemu.destroy"

    def check(self, job: Job, guest: Guest) -> float:
        check(job.cluster, guest, purge=bool(job.arguments.get("purge")))
        skip = bool(job.arguments.get("skiplock")) or guest.lock == "suspended"
        refuse_locked(job.cluster, guest, skip=skip)
        shelf = shelf_of(job.cluster, guest)
        if guest.is_template:
            _refuse_cloned(shelf, guest)
        return job.cluster.around.dice.between(*_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        cluster, shelf = job.cluster, shelf_of(job.cluster, guest)
        for volid in owned_volumes(shelf, guest):
            _free(job, shelf, volid)
        if job.arguments.get("unreferenced"):
            for volid in _unreferenced(shelf):
                _free(job, shelf, volid)
        forget_traces(job, guest)
        forget(cluster, guest.vmid)


def owned_volumes(shelf: Shelf, guest: Guest) -> list[str]:
    """Volumes that a machine refers to and that are its own, each once."""
    config = guest.config
    found = [
        *(drive.volume for values in (config.values, config.pending) for drive in disks_of(values)),
        *(config.values[key] for key in sorted(config.values) if is_unused(key)),
        *(
            values["vmstate"]
            for values in (config.values, *config.snapshots.values())
            if "vmstate" in values
        ),
    ]
    return [volid for volid in dict.fromkeys(found) if shelf.owns(volid)]


def _unreferenced(shelf: Shelf) -> list[str]:
    return [
        volume.id
        for storage in shelf.cluster.state.storages.values()
        if storage.is_enabled and storage.is_on(shelf.host.name) and "images" in storage.content
        for volume in space.volumes_on(shelf.cluster, storage, shelf.host.name)
        if volume.vmid == shelf.vmid and volume.content == "images"
    ]


def _refuse_cloned(shelf: Shelf, guest: Guest) -> None:
    for volid in owned_volumes(shelf, guest):
        found = shelf.find(volid)
        if found is not None and shelf.clones_of(found):
            raise die(f"base volume '{volid}' is still in use by linked cloned")


def _free(job: Job, shelf: Shelf, volid: str) -> None:
    try:
        shelf.free(volid)
    except ApiError as error:
        job.warn(f"Could not remove disk '{volid}', check manually: {error.message}")
