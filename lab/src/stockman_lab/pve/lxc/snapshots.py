"""Snapshots of containers: configuration and volumes as they were."""

from __future__ import annotations

import copy
from typing import ClassVar

from stockman_lab.pve.errors import die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.guest_config.pending import add_unused
from stockman_lab.pve.lxc.power import power_off, power_on
from stockman_lab.pve.lxc.volumes import existing, has_feature, mounts_of, shelf_of
from stockman_lab.pve.qemu.file_lock import GuestWork, refuse_locked
from stockman_lab.pve.qemu.shelf import Shelf
from stockman_lab.pve.volume import Volume, VolumeSnapshot
from stockman_lab.pve.workers import Job, register

_SECONDS = (0.3, 0.9)
_LEFT_OUT = frozenset({"snapstate", "snaptime", "lock", "digest", "description"})


def _kept(values: dict[str, str]) -> dict[str, str]:
    return {
        key: value
        for key, value in values.items()
        if key not in _LEFT_OUT and not is_indexed(key, "unused")
    }


def check_name(name: str) -> None:
    """Refuse names that mean something else."""
    if name in ("current", "vzdump"):
        raise die(f"unable to use snapshot name '{name}' (reserved name)")


def snapshot_of(guest: Guest, name: str) -> dict[str, str]:
    """The values of a snapshot."""
    if name not in guest.config.snapshots:
        raise die(f"snapshot '{name}' does not exist")
    return guest.config.snapshots[name]


def all_have_feature(
    shelf: Shelf, feature: str, values: dict[str, str], snapshot: str = ""
) -> bool:
    """Whether storages can do something with everything that is mounted."""
    return all(
        mount.kind == "volume" and has_feature(shelf, feature, mount.volume, snapshot)
        for mount in mounts_of(values)
    )


class _Snapshot(GuestWork):
    lock: ClassVar[str]

    def check(self, job: Job, guest: Guest) -> float:
        self.look(job, guest)
        guest.config.values["lock"] = self.lock
        guest.changed_at = job.cluster.now
        job.arguments["locked"] = True
        return job.cluster.around.dice.between(*_SECONDS)

    def look(self, job: Job, guest: Guest) -> None:
        """Refuse what cannot be done."""

    def ended(self, job: Job) -> None:
        super().ended(job)
        guest = job.cluster.state.guests.get(job.number("vmid"))
        if guest is not None and job.arguments.get("locked") and guest.lock == self.lock:
            guest.config.values.pop("lock")
            guest.changed_at = job.cluster.now


@register
class Take(_Snapshot):
    """Takes a snapshot."""

    name: ClassVar[str] = "lxc.snapshot"
    lock: ClassVar[str] = "snapshot"

    def look(self, job: Job, guest: Guest) -> None:
        if guest.is_template:
            raise die("you can't take a snapshot if it's a template")
        refuse_locked(job.cluster, guest)
        name = job.text("snapname")
        if name in guest.config.snapshots:
            raise die(f"snapshot name '{name}' already used")
        if not all_have_feature(shelf_of(job.cluster, guest), "snapshot", guest.config.values):
            raise die("snapshot feature is not available")

    def do(self, job: Job, guest: Guest) -> None:
        name, config = job.text("snapname"), guest.config
        shelf = shelf_of(job.cluster, guest)
        for mount in mounts_of(config.values):
            _snap(existing(shelf, mount.volume), name)
        values = _kept(config.values)
        values["snaptime"] = str(int(job.cluster.now))
        if job.text("description"):
            values["description"] = job.text("description")
        for snapshot in config.snapshots.values():
            if snapshot.get("parent") == name:
                del snapshot["parent"]
        config.snapshots[name] = values
        config.values["parent"] = name


@register
class Forget(_Snapshot):
    """Deletes a snapshot."""

    name: ClassVar[str] = "lxc.delete-snapshot"
    lock: ClassVar[str] = "snapshot-delete"

    def look(self, job: Job, guest: Guest) -> None:
        snapshot_of(guest, job.text("snapname"))
        refuse_locked(job.cluster, guest)
        if guest.is_template:
            raise die("you can't delete a snapshot if vm is a template")

    def do(self, job: Job, guest: Guest) -> None:
        name, config = job.text("snapname"), guest.config
        gone = snapshot_of(guest, name)
        shelf = shelf_of(job.cluster, guest)
        for mount in mounts_of(gone):
            volume = shelf.find(mount.volume)
            if volume is not None:
                volume.snapshots = [
                    snapshot for snapshot in volume.snapshots if snapshot.name != name
                ]
        del config.snapshots[name]
        for values in (config.values, *config.snapshots.values()):
            if values.get("parent") == name:
                values.pop("parent")
                if "parent" in gone:
                    values["parent"] = gone["parent"]
        mounted = {mount.volume for mount in mounts_of(config.values)}
        for mount in mounts_of(gone):
            if mount.volume not in mounted:
                add_unused(config, mount.volume)


@register
class Rollback(_Snapshot):
    """Makes a container what it was."""

    name: ClassVar[str] = "lxc.rollback"
    lock: ClassVar[str] = "rollback"

    def look(self, job: Job, guest: Guest) -> None:
        if guest.is_template:
            raise die("you can't rollback if vm is a template")
        name = job.text("snapname")
        shelf = shelf_of(job.cluster, guest)
        for mount in mounts_of(snapshot_of(guest, name)):
            _check_newest(shelf, existing(shelf, mount.volume), name)
        refuse_locked(job.cluster, guest)
        if guest.is_running:
            power_off(job.cluster, guest)

    def do(self, job: Job, guest: Guest) -> None:
        name, config = job.text("snapname"), guest.config
        then = snapshot_of(guest, name)
        shelf = shelf_of(job.cluster, guest)
        for mount in mounts_of(then):
            _restore(existing(shelf, mount.volume), name)
        before = {mount.volume for mount in mounts_of(then)}
        for mount in mounts_of(config.values):
            if mount.kind == "volume" and mount.volume not in before:
                add_unused(config, mount.volume)
        kept = {
            key: value
            for key, value in config.values.items()
            if key == "description" or is_indexed(key, "unused")
        }
        config.values = {**kept, **_kept(then), "parent": name}
        config.pending, config.pending_delete = {}, {}
        guest.changed_at = job.cluster.now
        if job.arguments.get("start"):
            power_on(job.cluster, guest, job.log)


def _snap(volume: Volume, name: str) -> None:
    kept = VolumeSnapshot(name, volume.size, volume.blob, copy.deepcopy(volume.contents))
    volume.snapshots.append(kept)


def _check_newest(shelf: Shelf, volume: Volume, name: str) -> None:
    names = [snapshot.name for snapshot in volume.snapshots]
    if name not in names:
        raise die(f"can't rollback, snapshot '{name}' does not exist on '{volume.id}'")
    needs_newest = shelf.cluster.state.storages[volume.storage].type == "zfspool"
    if needs_newest and names[-1] != name:
        raise die(f"can't rollback, '{name}' is not most recent snapshot on '{volume.id}'")


def _restore(volume: Volume, name: str) -> None:
    then = next(snapshot for snapshot in volume.snapshots if snapshot.name == name)
    volume.size, volume.used = then.size, min(volume.used, then.size)
    volume.contents = copy.deepcopy(then.contents)
