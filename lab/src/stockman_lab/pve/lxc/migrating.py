"""Containers that go to another host."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.sizes import GIB
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.host import Host
from stockman_lab.pve.lxc.power import power_off, power_on, seconds_to_shut_down
from stockman_lab.pve.lxc.volumes import CONTENT, existing, mounts_of, shelf_of, volumes_of
from stockman_lab.pve.qemu.file_lock import GuestWork, refuse_locked
from stockman_lab.pve.storage import Volume
from stockman_lab.pve.workers import Job, register

_SECONDS, _COPY_A_GIB = (2.0, 4.0), (4.0, 10.0)
_TIMEOUT = 180
_LOCAL = frozenset({"dir", "zfspool", "lvmthin", "lvm", "btrfs"})
"""Types of storages whose volumes can be sent to another host."""
_WITH_SNAPSHOTS = frozenset({"zfspool", "btrfs"})


def mapped(storage: str, pairs: Mapping[str, str]) -> str:
    """The storage on the other host that takes the place of one."""
    return pairs.get(storage) or pairs.get("") or storage


@register
class Migrate(GuestWork):
    """Brings a container to another host, stopped meanwhile."""

    name: ClassVar[str] = "lxc.migrate"

    def check(self, job: Job, guest: Guest) -> float:
        cluster, dice = job.cluster, job.cluster.around.dice
        refuse_locked(cluster, guest)
        _check_running(job, guest)
        _check_mounts(job, guest)
        seconds = dice.between(*_SECONDS)
        if guest.is_running:
            job.log(f"shutdown CT {guest.vmid}")
            seconds += _stopped_after(job, guest)
            power_off(cluster, guest)
            job.arguments["was_running"] = True
        target = _target(job)
        job.log(f"starting migration of CT {guest.vmid} to node '{target.name}' ({target.address})")
        guest.config.values["lock"] = "migrate"
        guest.changed_at = cluster.now
        job.arguments["locked"] = True
        for volume in _local_volumes(job, guest):
            job.log(f"found local volume '{volume.id}' (in current VM config)")
            seconds += volume.used / GIB * dice.between(*_COPY_A_GIB)
        return seconds

    def do(self, job: Job, guest: Guest) -> None:
        cluster, target = job.cluster, _target(job)
        if not target.has_power:
            raise die("Can't connect to destination address using public key")
        moved: dict[str, Volume] = {}
        try:
            for volume in _local_volumes(job, guest):
                moved[volume.id] = _sent(job, guest, volume)
        except ApiError:
            for made in moved.values():
                space.free(cluster, made)
            raise
        for volid, made in moved.items():
            job.log(f"volume '{volid}' is '{made.id}' on the target")
            space.free(cluster, existing(shelf_of(cluster, guest), volid))
        _rename_volumes(guest, {old: made.id for old, made in moved.items()})
        guest.config.values.pop("lock", None)
        job.log("start final cleanup")
        guest.node = target.name
        guest.changed_at = cluster.now
        cluster.changed()
        if job.arguments.get("was_running"):
            job.log("start container on target node")
            power_on(cluster, guest, job.log)
        job.log("migration finished successfully")

    def abort(self, job: Job) -> None:
        guest = job.cluster.state.guests.get(job.number("vmid"))
        if guest is None or not job.arguments.get("locked") or guest.lock != "migrate":
            return
        guest.config.values.pop("lock")
        guest.changed_at = job.cluster.now
        if job.arguments.get("was_running"):
            job.log("start container on source node")
            power_on(job.cluster, guest, job.log)


def _target(job: Job) -> Host:
    return job.cluster.state.hosts[job.text("target")]


def _pairs(job: Job) -> dict[str, str]:
    storages = job.arguments.get("storages")
    return (
        {str(key): str(value) for key, value in storages.items()}
        if isinstance(storages, dict)
        else {}
    )


def _check_running(job: Job, guest: Guest) -> None:
    if not guest.is_running or job.arguments.get("by_ha"):
        return
    if job.arguments.get("online"):
        raise die("lxc live migration is currently not implemented")
    if not job.arguments.get("restart"):
        raise die("running container can only be migrated in restart mode")


def _stopped_after(job: Job, guest: Guest) -> float:
    timeout = float(job.number("timeout") if "timeout" in job.arguments else _TIMEOUT)
    seconds = seconds_to_shut_down(job.cluster, guest)
    if seconds is None or seconds > timeout:
        raise die("container did not stop")
    return seconds


def _check_mounts(job: Job, guest: Guest) -> None:
    cluster, source, target = job.cluster, job.cluster.state.hosts[guest.node], _target(job)
    for mount in mounts_of(guest.config.values):
        if mount.kind != "volume":
            if mount.options.get("shared") == "1":
                continue
            raise die(f"cannot migrate local {mount.kind} mount point '{mount.key}'")
        storage = space.usable(cluster, mount.volume.partition(":")[0], source)
        if CONTENT not in storage.content:
            raise die(f"content type 'rootdir' is not available on storage '{storage.id}'")
        wanted = storage.id if storage.is_shared else mapped(storage.id, _pairs(job))
        usable = space.usable(cluster, wanted, target)
        if CONTENT not in usable.content:
            raise die(
                f"{mount.volume}: content type 'rootdir' is not available on storage '{wanted}'"
            )


def _local_volumes(job: Job, guest: Guest) -> list[Volume]:
    """Volumes that the other host does not see; refuses those that cannot be sent."""
    cluster, shelf = job.cluster, shelf_of(job.cluster, guest)
    volumes, complaints = [], {}
    for volid in volumes_of(guest.config.values, unused=True):
        storage = space.find_storage(cluster, volid.partition(":")[0])
        if storage.is_shared:
            continue
        volume = existing(shelf, volid)
        volumes.append(volume)
        if storage.type not in _LOCAL:
            complaints[volid] = f"storage type '{storage.type}' not supported"
        elif volume.parent:
            complaints[volid] = f"clone of '{volume.parent}'"
        elif not shelf.owns(volid):
            complaints[volid] = f"owned by other guest (owner = {volume.vmid})"
        elif volume.snapshots and storage.type not in _WITH_SNAPSHOTS:
            complaints[volid] = "non-migratable snapshot exists"
    for volid in sorted(complaints):
        job.log(f"can't migrate local volume '{volid}': {complaints[volid]}")
    if complaints:
        raise die("can't migrate CT - check log")
    return volumes


def _sent(job: Job, guest: Guest, volume: Volume) -> Volume:
    cluster, target = job.cluster, _target(job)
    storage = space.usable(cluster, mapped(volume.storage, _pairs(job)), target)
    new = space.NewVolume(
        volume.name, CONTENT, volume.format, volume.size, guest.vmid, volume.used, volume.blob
    )
    try:
        allocate = space.allocate(cluster, storage, target, new)
    except ApiError as error:
        raise die(
            f"storage migration for '{volume.id}' to storage '{storage.id}' failed -"
            f" {error.message}"
        ) from None
    allocate.contents = copy.deepcopy(volume.contents)
    allocate.snapshots = copy.deepcopy(volume.snapshots)
    return allocate


def _rename_volumes(guest: Guest, names: Mapping[str, str]) -> None:
    for values in (guest.config.values, guest.config.pending, *guest.config.snapshots.values()):
        for mount in mounts_of(values):
            if mount.volume in names:
                mount.volume = names[mount.volume]
                values[mount.key] = str(mount)
        for key, value in values.items():
            if value in names:
                values[key] = names[value]
