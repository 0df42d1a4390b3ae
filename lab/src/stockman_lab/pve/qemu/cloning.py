"""Copies of virtual machines, with disks of their own or as linked clones, and templates."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.drive import Drive, is_drive
from stockman_lab.pve.formats.sizes import GIB
from stockman_lab.pve.formats.volume_name import cloud_init_name, storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_ids import forget
from stockman_lab.pve.qemu.creating import clone_values, maker_of
from stockman_lab.pve.qemu.drives import CLOUD_INIT_SIZE, drives_of, free_all, parse_stored_drive
from stockman_lab.pve.qemu.file_lock import GuestWork, host_of
from stockman_lab.pve.qemu.power import shelf_of
from stockman_lab.pve.qemu.shelf import Shelf, has_feature
from stockman_lab.pve.storage import Volume
from stockman_lab.pve.workers import Job, register

_TEMPLATE_SECONDS = (0.5, 1.8)


def check_template(cluster: Cluster, guest: Guest, disk: str) -> None:
    """Refuse to make a template of what cannot be one."""
    cluster.refuse_locked(guest)
    if guest.config.snapshots:
        raise die("unable to create template, because VM contains snapshots")
    if guest.is_template and not disk:
        raise die("you can't convert a template to a template")
    if guest.is_running:
        raise die("you can't convert a VM to template if VM is running")


@register
class Template(GuestWork):
    """Makes a template of a machine."""

    name: ClassVar[str] = "qemu.template"

    def check(self, job: Job, guest: Guest) -> float:
        check_template(job.cluster, guest, job.text("disk"))
        return job.cluster.around.dice.between(*_TEMPLATE_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        guest.config.values["template"] = "1"
        guest.changed_at = job.cluster.now
        make_bases(job.cluster, guest, job.text("disk"))


def make_bases(cluster: Cluster, guest: Guest, disk: str = "") -> None:
    """Make the disks of a template ones that can be linked to; only one of them if it is named."""
    shelf = shelf_of(cluster, guest)
    for drive in drives_of(guest.config.values):
        if drive.is_cdrom or (disk and drive.key != disk) or not drive.volume:
            continue
        volume = shelf.find(drive.volume)
        if volume is None or not has_feature(shelf, "template", drive.volume):
            continue
        shelf.make_base(volume)
        drive.file = volume.id
        guest.config.values[drive.key] = str(drive)


_LINKED, _FULL_A_GIB = (1.0, 2.0), (1.0, 6.0)


@dataclass(slots=True)
class CloneSettings:
    """What a clone is to be."""

    newid: int
    full: bool | None = None
    """None: a full one, unless it is that of a template."""
    snapshot: str = ""
    storage: str = ""
    format: str = ""
    target: str = ""
    """The host that it is for. Empty: that of the source."""


def check_clone(cluster: Cluster, guest: Guest, settings: CloneSettings) -> None:
    """Refuse a clone that cannot be."""
    _check_places(cluster, guest, settings)
    cluster.require_quorum()
    cluster.refuse_locked(guest)
    values = source_values(guest, settings.snapshot)
    full = is_full(guest, settings)
    for name, given in (("storage", settings.storage), ("format", settings.format)):
        if given and not full:
            raise die(f"parameter '{name}' not allowed for linked clones")
    shelf = shelf_of(cluster, guest)
    if settings.target and not _is_shared(shelf, values, settings.storage):
        raise die(f"can't clone VM to node '{settings.target}' (VM uses local storage)")
    if settings.newid in cluster.state.guests:
        raise die(f"unable to create VM {settings.newid}: config file already exists")
    if full and guest.is_running and not settings.snapshot and "tpmstate0" in values:
        raise die("cannot clone TPM state while VM is running")
    for drive in copied_drives(values):
        _check_drive(shelf, drive, settings, full=full)


def is_full(guest: Guest, settings: CloneSettings) -> bool:
    """Whether disks are copied rather than linked."""
    return not guest.is_template if settings.full is None else settings.full


def source_values(guest: Guest, snapshot: str) -> dict[str, str]:
    """The values that are cloned: those of now, or of a snapshot."""
    if not snapshot:
        return guest.config.values
    if snapshot not in guest.config.snapshots:
        raise die(f"snapshot '{snapshot}' does not exist")
    return guest.config.snapshots[snapshot]


def copied_drives(values: dict[str, str]) -> list[Drive]:
    """Drives whose volumes are cloned, and not only named."""
    drives = (parse_stored_drive(key, values[key]) for key in sorted(values) if is_drive(key))
    return [drive for drive in drives if not drive.is_plain_cdrom and drive.volume]


def _check_places(cluster: Cluster, guest: Guest, settings: CloneSettings) -> None:
    if settings.target and settings.target not in cluster.state.hosts:
        raise die(f"no such cluster node '{settings.target}'")
    if not settings.storage:
        return
    storage = space.usable(cluster, settings.storage, cluster.state.hosts[guest.node])
    if "images" not in storage.content:
        raise bad_parameters({"storage": f"storage '{storage.id}' does not support vm images"})
    if settings.target:
        space.usable(cluster, settings.storage, cluster.state.hosts[settings.target])
        if not storage.is_shared:
            raise die(f"can't clone to non-shared storage '{storage.id}'")


def _is_shared(shelf: Shelf, values: dict[str, str], storage: str) -> bool:
    """Whether the host of the clone would see everything that it uses."""
    for key, value in values.items():
        drive = parse_stored_drive(key, value) if is_drive(key) else None
        if drive is None or drive.file in ("none", "cdrom"):
            continue
        if not drive.volume:
            return False
        place = storage_of(drive.volume) if drive.is_plain_cdrom else storage
        if not space.find_storage(shelf.cluster, place or storage_of(drive.volume)).is_shared:
            return False
    return True


def _check_drive(shelf: Shelf, drive: Drive, settings: CloneSettings, *, full: bool) -> None:
    copied = full or drive.is_cloud_init or drive.key == "tpmstate0"
    if has_feature(shelf, "copy" if copied else "clone", drive.volume, settings.snapshot):
        return
    kind, of = "Full" if copied else "Linked", " a snapshot of" if settings.snapshot else ""
    raise die(f"{kind} clone feature is not supported for{of} '{drive.volume}' ({drive.key})")


@register
class Clone(GuestWork):
    """Makes a copy of a machine."""

    name: ClassVar[str] = "qemu.clone"
    patience: ClassVar[float] = 1.0

    def shares(self, guest: Guest) -> bool:
        return not guest.is_running

    def check(self, job: Job, guest: Guest) -> float:
        cluster, settings = job.cluster, _clone_settings(job)
        check_clone(cluster, guest, settings)
        job.log(f"creating a clone of VM {guest.vmid} with ID {settings.newid}")
        made = Guest(settings.newid, "qemu", guest.node, GuestConfig(values={"lock": "clone"}))
        made.changed_at = cluster.now
        cluster.state.guests[settings.newid] = made
        cluster.changed()
        job.arguments["begun"] = True
        job.arguments["made"] = []
        try:
            made.config.values |= self._drives(job, guest, settings)
        except ApiError as error:
            raise die(f"clone failed: {error.message}") from None
        full = is_full(guest, settings)
        size = sum(drive.size for drive in copied_drives(source_values(guest, settings.snapshot)))
        dice = cluster.around.dice
        seconds = dice.between(*_LINKED)
        return seconds + size / GIB * dice.between(*_FULL_A_GIB) if full else seconds

    def do(self, job: Job, guest: Guest) -> None:
        cluster, settings = job.cluster, _clone_settings(job)
        made = cluster.state.guests[settings.newid]
        values = _plain_values(cluster, source_values(guest, settings.snapshot))
        values["name"] = job.text("name") or f"Copy-of-VM-{_source_name(guest, settings)}"
        if job.text("description"):
            values["description"] = job.text("description").rstrip("\n")
        drives = {key: value for key, value in made.config.values.items() if key != "lock"}
        made.config.values = values | drives
        if guest.vmid in cluster.state.guest_firewalls:
            rules = copy.deepcopy(cluster.state.guest_firewalls[guest.vmid])
            cluster.state.guest_firewalls[settings.newid] = rules
        made.node = settings.target or made.node
        made.changed_at = cluster.now
        pool = cluster.state.resource_pools.get(job.text("pool"))
        if pool is not None:
            pool.guests.append(settings.newid)
        cluster.changed()
        job.arguments["done"] = True

    def _drives(self, job: Job, guest: Guest, settings: CloneSettings) -> dict[str, str]:
        values = source_values(guest, settings.snapshot)
        shelf = Shelf(job.cluster, host_of(job), settings.newid)
        volumes = job.arguments["made"]
        drives = {}
        for drive in copied_drives(values):
            full = is_full(guest, settings) or drive.is_cloud_init or drive.key == "tpmstate0"
            kind = "full" if full else "linked"
            job.log(f"create {kind} clone of drive {drive.key} ({drive.volume})")
            volume = _copy_volume(shelf, drive, settings) if full else _link_volume(shelf, drive)
            if isinstance(volumes, list):
                volumes.append(volume.id)
            drive.options.pop("format", None)
            drive.file, drive.size = volume.id, volume.size
            drives[drive.key] = str(drive)
        return drives

    def ended(self, job: Job) -> None:
        super().ended(job)
        if job.arguments.get("done") or not job.arguments.get("begun"):
            return
        made = job.arguments.get("made")
        shelf = Shelf(job.cluster, host_of(job), job.number("newid"))
        free_all(shelf, [str(one) for one in made] if isinstance(made, list) else [])
        forget(job.cluster, job.number("newid"))


def _clone_settings(job: Job) -> CloneSettings:
    full = job.arguments.get("full")
    return CloneSettings(
        newid=job.number("newid"),
        full=None if full is None else bool(full),
        snapshot=job.text("snapname"),
        storage=job.text("storage"),
        format=job.text("format"),
        target=job.text("target"),
    )


def _source(shelf: Shelf, drive: Drive) -> Volume:
    shelf.storage(storage_of(drive.volume))
    volume = shelf.find(drive.volume)
    if volume is None:
        raise die(f"volume '{drive.volume}' does not exist")
    return volume


def _link_volume(shelf: Shelf, drive: Drive) -> Volume:
    return shelf.link(_source(shelf, drive))


def _copy_volume(shelf: Shelf, drive: Drive, settings: CloneSettings) -> Volume:
    source = _source(shelf, drive)
    storage = shelf.storage(settings.storage or source.storage)
    form = shelf.form_for(storage, settings.format or source.format)
    if drive.is_cloud_init:
        name, form = cloud_init_name(storage.type, shelf.vmid, form)
        return shelf.allocate(storage, CLOUD_INIT_SIZE, form, name)
    volume = shelf.copy(source, storage, form)
    for kept in source.snapshots:
        if kept.name == settings.snapshot:
            volume.contents = copy.deepcopy(kept.contents)
    return volume


def _plain_values(cluster: Cluster, source: dict[str, str]) -> dict[str, str]:
    """Values of the clone that are no drives with volumes: addresses and ids are new."""
    plain_values = clone_values(source, maker_of(cluster))
    del plain_values["lock"]
    for key in [key for key in plain_values if is_drive(key)]:
        if not parse_stored_drive(key, plain_values[key]).is_plain_cdrom:
            del plain_values[key]
    return plain_values


def _source_name(guest: Guest, settings: CloneSettings) -> str:
    return source_values(guest, settings.snapshot).get("name", str(guest.vmid))
