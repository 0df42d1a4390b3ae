"""The end of containers: volumes, rights and entries elsewhere go, the configuration last."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_ids import forget, forget_traces, refuse_needed
from stockman_lab.pve.lxc.power import power_off
from stockman_lab.pve.lxc.volumes import CONTENT, shelf_of, volumes_of
from stockman_lab.pve.qemu.file_lock import GuestWork
from stockman_lab.pve.qemu.shelf import Shelf
from stockman_lab.pve.workers import Job, register

_SECONDS = (1.0, 5.0)


def check(cluster: Cluster, guest: Guest, *, purge: bool, force: bool) -> None:
    """Refuse to destroy what is protected, locked, needed elsewhere, or running."""
    vmid = guest.vmid
    if guest.config.values.get("protection") == "1":
        raise die(f"can't remove CT {vmid} - protection mode enabled")
    cluster.refuse_locked(guest)
    if not purge:
        refuse_needed(cluster, guest)
    if guest.is_running and not force:
        raise die(f"unable to destroy CT {vmid} - container is running")


@register
class Destroy(GuestWork):
    """Destroys a container with everything that is its own."""

    name: ClassVar[str] = "lxc.destroy"

    def check(self, job: Job, guest: Guest) -> float:
        self._check(job, guest)
        return job.cluster.around.dice.between(*_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        self._check(job, guest)
        cluster, vmid = job.cluster, guest.vmid
        if guest.is_running:
            job.log(f"forced to stop CT {vmid} before destroying!")
            power_off(cluster, guest)
        shelf = shelf_of(cluster, guest)
        for volid in _referenced(guest):
            if shelf.owns(volid):
                shelf.free(volid)
            else:
                job.log(f"ignore deletion of '{volid}', CT {vmid} isn't the owner!")
        if job.arguments.get("unreferenced"):
            _free_unreferenced(job, shelf)
        forget_traces(job, guest)
        forget(cluster, vmid)

    def _check(self, job: Job, guest: Guest) -> None:
        purge, force = (bool(job.arguments.get(name)) for name in ("purge", "force"))
        check(job.cluster, guest, purge=purge, force=force)


def _referenced(guest: Guest) -> list[str]:
    config = guest.config
    found = [*volumes_of(config.values, unused=True), *volumes_of(config.pending, unused=True)]
    return list(dict.fromkeys(found))


def _free_unreferenced(job: Job, shelf: Shelf) -> None:
    for storage in shelf.cluster.state.storages.values():
        if not storage.is_enabled or not storage.is_on(shelf.host.name):
            continue
        for volume in list(space.volumes_on(shelf.cluster, storage, shelf.host.name)):
            if volume.vmid != shelf.vmid or volume.content != CONTENT:
                continue
            try:
                shelf.free(volume.id)
            except ApiError as error:
                job.warn(error.message)
