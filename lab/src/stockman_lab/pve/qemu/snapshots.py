"""Snapshots of virtual machines: configuration, disks, and memory if that is wanted."""

from __future__ import annotations

import copy
from typing import ClassVar

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.drive import Drive, is_unused
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.pending import add_unused
from stockman_lab.pve.qemu.drives import disks_of, free_all
from stockman_lab.pve.qemu.file_lock import GuestWork
from stockman_lab.pve.qemu.power import power_off, power_on, shelf_of
from stockman_lab.pve.qemu.power_works import memory_values, save_memory, seconds_to_save
from stockman_lab.pve.qemu.shelf import has_feature
from stockman_lab.pve.storage import Volume, VolumeSnapshot
from stockman_lab.pve.workers import Job, register

_SECONDS, _ROLLBACK = (0.3, 0.9), (1.0, 3.0)
_NOT_KEPT = frozenset({"snapstate", "snaptime", "vmstate", "lock", "description"})


def can_snapshot(cluster: Cluster, values: dict[str, str], guest: Guest) -> bool:
    """Whether every disk is on a storage that has snapshots."""
    shelf = shelf_of(cluster, guest)
    return all(
        has_feature(shelf, "snapshot", drive.volume)
        for drive in disks_of(values)
        if not drive.is_cdrom
    )


def _volumes(cluster: Cluster, guest: Guest, values: dict[str, str]) -> list[tuple[Drive, Volume]]:
    shelf = shelf_of(cluster, guest)
    found = ((drive, shelf.find(drive.volume)) for drive in disks_of(values) if not drive.is_cdrom)
    return [(drive, volume) for drive, volume in found if volume is not None]


def _kept(values: dict[str, str]) -> dict[str, str]:
    return {
        key: value for key, value in values.items() if key not in _NOT_KEPT and not is_unused(key)
    }


@register
class TakeSnapshot(GuestWork):
    """Keeps what a machine is now under a name."""

    name: ClassVar[str] = "qemu.snapshot"

    def check(self, job: Job, guest: Guest) -> float:
        name = job.text("snapname")
        if guest.is_template:
            raise die("you can't take a snapshot if it's a template")
        job.cluster.refuse_locked(guest)
        if name in guest.config.snapshots:
            raise die(f"snapshot name '{name}' already used")
        if not can_snapshot(job.cluster, guest.config.values, guest):
            raise die("snapshot feature is not available")
        guest.config.values["lock"] = "snapshot"
        seconds = job.cluster.around.dice.between(*_SECONDS)
        return seconds + (seconds_to_save(guest) if self._with_memory(job, guest) else 0.0)

    def do(self, job: Job, guest: Guest) -> None:
        cluster, config, name = job.cluster, guest.config, job.text("snapname")
        kept = _kept(config.values)
        if self._with_memory(job, guest):
            job.log("saving VM state and RAM")
            kept |= memory_values(cluster, save_memory(cluster, guest, name))
        kept["snaptime"] = str(int(cluster.now))
        if job.text("description"):
            kept["description"] = job.text("description").rstrip("\n")
        for drive, volume in _volumes(cluster, guest, config.values):
            job.log(f"snapshotting '{drive.key}' ({volume.id})")
            contents = copy.deepcopy(volume.contents)
            volume.snapshots.append(VolumeSnapshot(name, volume.size, volume.blob, contents))
        for snapshot in config.snapshots.values():
            if snapshot.get("parent") == name:
                del snapshot["parent"]
        config.snapshots[name] = kept
        config.values["parent"] = name
        config.values.pop("lock", None)

    def _with_memory(self, job: Job, guest: Guest) -> bool:
        return bool(job.arguments.get("vmstate")) and guest.is_running

    def abort(self, job: Job) -> None:
        _unlock(job, "snapshot")


def _unlock(job: Job, lock: str) -> None:
    guest = job.cluster.state.guests.get(job.number("vmid"))
    if guest is not None and guest.lock == lock and job.arguments.get("_held"):
        del guest.config.values["lock"]


@register
class Rollback(GuestWork):
    """Makes a machine what it was when a snapshot was taken."""

    name: ClassVar[str] = "qemu.rollback"

    def check(self, job: Job, guest: Guest) -> float:
        name = job.text("snapname")
        if guest.is_template:
            raise die("you can't rollback if vm is a template")
        if name not in guest.config.snapshots:
            raise die(f"snapshot '{name}' does not exist")
        for _, volume in _volumes(job.cluster, guest, guest.config.snapshots[name]):
            _check_newest(job.cluster, volume, name)
        job.cluster.refuse_locked(guest)
        if guest.is_running:
            power_off(job.cluster, guest)
        guest.config.values["lock"] = "rollback"
        return job.cluster.around.dice.between(*_ROLLBACK)

    def do(self, job: Job, guest: Guest) -> None:
        cluster, config, name = job.cluster, guest.config, job.text("snapname")
        kept = config.snapshots[name]
        for _, volume in _volumes(cluster, guest, kept):
            _restore(volume, name)
        stays = {
            key: value
            for key, value in config.values.items()
            if is_unused(key) or key == "description"
        }
        then = {drive.volume for drive in disks_of(kept)}
        left = [
            drive.volume
            for drive in disks_of(config.values)
            if drive.volume not in then and not drive.is_cdrom
        ]
        config.values = stays | _kept(kept)
        config.pending, config.pending_delete = {}, {}
        config.values["parent"] = name
        for volid in left:
            add_unused(config, volid)
        for key in ("runningmachine", "runningcpu", "running-nets-host-mtu"):
            config.values.pop(key, None)
        guest.changed_at = cluster.now
        if ("vmstate" in kept or job.arguments.get("start")) and not guest.is_running:
            power_on(cluster, guest, job.log)

    def abort(self, job: Job) -> None:
        _unlock(job, "rollback")


def _check_newest(cluster: Cluster, volume: Volume, name: str) -> None:
    """Refuse to go back beyond newer snapshots where the storage would lose them."""
    names = [snapshot.name for snapshot in volume.snapshots]
    if name not in names:
        raise die(f"volume '{volume.id}' has no snapshot '{name}'")
    storage = cluster.state.storages.get(volume.storage)
    if storage is not None and storage.type == "zfspool" and names[-1] != name:
        raise die(f"can't rollback, '{name}' is not most recent snapshot on '{volume.id}'")


def _restore(volume: Volume, name: str) -> None:
    snapshot = next(one for one in volume.snapshots if one.name == name)
    volume.size = snapshot.size
    volume.contents = copy.deepcopy(snapshot.contents)


@register
class DeleteSnapshot(GuestWork):
    """Forgets a snapshot; what it kept of disks goes with it."""

    name: ClassVar[str] = "qemu.delete-snapshot"

    def check(self, job: Job, guest: Guest) -> float:
        name = job.text("snapname")
        if name not in guest.config.snapshots:
            raise die(f"snapshot '{name}' does not exist")
        job.cluster.refuse_locked(guest)
        if guest.is_template:
            raise die("you can't delete a snapshot if vm is a template")
        guest.config.values["lock"] = "snapshot-delete"
        return job.cluster.around.dice.between(*_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        config, name = guest.config, job.text("snapname")
        kept = config.snapshots[name]
        shelf = shelf_of(job.cluster, guest)
        if "vmstate" in kept:
            free_all(shelf, [kept["vmstate"]])
        for _, volume in _volumes(job.cluster, guest, kept):
            volume.snapshots = [snapshot for snapshot in volume.snapshots if snapshot.name != name]
        del config.snapshots[name]
        for section in (config.values, *config.snapshots.values()):
            if section.get("parent") == name:
                section.pop("parent")
                if "parent" in kept:
                    section["parent"] = kept["parent"]
        self._keep_unused(job, guest, kept)
        config.values.pop("lock", None)

    def _keep_unused(self, job: Job, guest: Guest, kept: dict[str, str]) -> None:
        """Disks that only the snapshot still knew become unused ones."""
        shelf = shelf_of(job.cluster, guest)
        sections = (guest.config.values, *guest.config.snapshots.values())
        used = {drive.volume for section in sections for drive in disks_of(section)}
        for drive in disks_of(kept):
            if drive.volume not in used and shelf.owns(drive.volume) and not drive.is_cdrom:
                add_unused(guest.config, drive.volume)

    def abort(self, job: Job) -> None:
        _unlock(job, "snapshot-delete")


def refuse_reserved(name: str) -> None:
    """Refuse names that mean something else."""
    for reserved, given in (("current", name), ("pending", name.lower())):
        if given == reserved:
            raise _reserved(reserved)


def _reserved(name: str) -> ApiError:
    return die(f"unable to use snapshot name '{name}' (reserved name)")
