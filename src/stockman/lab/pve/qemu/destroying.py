"""The end of virtual machines: disks, rights and entries elsewhere go, the configuration last."""

from __future__ import annotations

from typing import ClassVar

from stockman.lab.pve import space
from stockman.lab.pve.access.acl import forget_path
from stockman.lab.pve.cluster import Cluster
from stockman.lab.pve.errors import ApiError, die
from stockman.lab.pve.formats.drive_names import is_unused
from stockman.lab.pve.guest import Guest
from stockman.lab.pve.qemu.creating import forget
from stockman.lab.pve.qemu.drives import disks_of
from stockman.lab.pve.qemu.file_lock import GuestWork, refuse_locked
from stockman.lab.pve.qemu.power import shelf_of
from stockman.lab.pve.qemu.shelf import Shelf
from stockman.lab.pve.workers import Job, register

_SECONDS = (1.0, 5.0)


def check(cluster: Cluster, guest: Guest, *, purge: bool) -> None:
    """Refuse to destroy what is protected, needed elsewhere, or running."""
    if guest.config.values.get("protection") == "1":
        raise die(f"can't remove VM {guest.vmid} - protection mode enabled")
    if not purge:
        if f"vm:{guest.vmid}" in cluster.state.ha_resources:
            raise die(
                f"unable to remove VM {guest.vmid} - used in HA resources and purge parameter"
                " not set."
            )
        refuse_replicated(cluster, guest.vmid)
    if guest.is_running:
        raise die(f"VM {guest.vmid} is running - destroy failed")


def refuse_replicated(cluster: Cluster, vmid: int) -> None:
    """Refuse a guest that is replicated to another host."""
    for job in replication_jobs(cluster, vmid):
        raise die(
            f"There is a replication job '{job}' for guest '{vmid}' - Please remove that first."
        )


def replication_jobs(cluster: Cluster, vmid: int) -> list[str]:
    """Jobs that replicate a guest, by id."""
    return [job for job in cluster.state.replication if job.rpartition("-")[0] == str(vmid)]


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
        forget_path(cluster.state.access, f"/vms/{guest.vmid}")
        for pool in cluster.state.resource_pools.values():
            if guest.vmid in pool.guests:
                pool.guests.remove(guest.vmid)
        cluster.state.guest_firewalls.pop(guest.vmid, None)
        if job.arguments.get("purge"):
            job.log(f"purging VM {guest.vmid} from related configurations..")
            _purge(job, guest.vmid)
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


def _purge(job: Job, vmid: int) -> None:
    state = job.cluster.state
    for replicated in replication_jobs(job.cluster, vmid):
        del state.replication[replicated]
    for section in state.backup_jobs.values():
        listed = section.options.get("vmid", "").split(",")
        if str(vmid) in listed:
            section.options["vmid"] = ",".join(one for one in listed if one != str(vmid))
    if state.ha_resources.pop(f"vm:{vmid}", None) is not None:
        for rule in state.ha_rules.values():
            members = rule.options.get("resources", "").split(",")
            rule.options["resources"] = ",".join(one for one in members if one != f"vm:{vmid}")
        job.log(f"NOTE: removed VM {vmid} from HA resource configuration.")
