"""Virtual machines made, changed and destroyed: the configuration comes first and goes last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from stockman_lab.core.saved import plain, restored
from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.drive import default_order, is_drive, is_unused, print_order
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.hardware import (
    canonical_machine_type,
    check_vga,
    clone_smbios,
    new_smbios,
    print_meta,
)
from stockman_lab.pve.formats.lists import print_tags
from stockman_lab.pve.formats.nic import DEFAULT_PREFIX, Throws, renew_nic
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.change import ConfigChange
from stockman_lab.pve.guest_config.context import GuestContext
from stockman_lab.pve.guest_config.keys import is_indexed, machine_value
from stockman_lab.pve.guest_config.state import has_cloud_init, machine_digest
from stockman_lab.pve.guest_config.update import check_update, plan_update
from stockman_lab.pve.guest_ids import forget, forget_traces, refuse_needed
from stockman_lab.pve.qemu.cloud_init_drive import regenerate
from stockman_lab.pve.qemu.drives import (
    DriveMaker,
    disks_of,
    import_seconds,
    leave_behind,
    parse_requested_drive,
)
from stockman_lab.pve.qemu.file_lock import GuestWork, is_inside, refuse_locked
from stockman_lab.pve.qemu.power import notice_change, power_on, shelf_of
from stockman_lab.pve.qemu.settings import tag_style
from stockman_lab.pve.qemu.shelf import Shelf
from stockman_lab.pve.releases import release_of
from stockman_lab.pve.workers import Job, register

NOT_CLONED = frozenset(
    {
        *("parent", "snaptime", "vmstate", "snapstate", "lock", "template"),
        *("runningcpu", "runningmachine", "running-nets-host-mtu"),
    }
)


@dataclass(frozen=True, slots=True)
class Maker:
    """What making a guest takes from its world."""

    dice: Throws
    now: int
    """Seconds since 1970."""
    qemu_version: str = "9.2.0"
    mac_prefix: str = DEFAULT_PREFIX


def new_machine(sets: Mapping[str, str], maker: Maker) -> dict[str, str]:
    """Values of a new virtual machine whose disks are made: what nobody chose is filled in."""
    values = {**sets, "meta": print_meta(maker.qemu_version, maker.now)}
    if not values.get("boot"):
        values["boot"] = print_order(default_order(values))
    check_vga(values.get("vga", ""))
    if not values.get("smbios1"):
        values["smbios1"] = new_smbios(maker.dice)
    if values.get("vmgenid", "1") == "1":
        values["vmgenid"] = maker.dice.uuid()
    if values.get("machine"):
        values["machine"] = canonical_machine_type(values["machine"])
    return {key: machine_value(key, value) for key, value in values.items()}


def clone_values(values: Mapping[str, str], maker: Maker) -> dict[str, str]:
    """Values of a clone, still with the drives of the original: other cards, another identity."""
    kept = {
        key: value for key, value in values.items() if key not in NOT_CLONED and not is_unused(key)
    }
    for key in sorted(kept):
        if is_indexed(key, "net"):
            kept[key] = str(renew_nic(kept[key], maker.dice, maker.mac_prefix))
    kept["smbios1"] = clone_smbios(kept.get("smbios1", ""), maker.dice)
    if kept.get("vmgenid", "0") != "0":
        kept["vmgenid"] = maker.dice.uuid()
    return {"lock": "clone", **kept}


_SECONDS = (0.5, 1.5)
_START = (1.0, 3.0)
_CREATED = "created"


@register
class Create(GuestWork):
    """Makes disks and writes the configuration; what fails leaves nothing behind."""

    name: ClassVar[str] = "qemu.create"

    def check(self, job: Job, guest: Guest) -> float:
        dice = job.cluster.around.dice
        seconds = dice.between(*_SECONDS)
        seconds += import_seconds(shelf_of(job.cluster, guest), _settings(job))
        if job.arguments.get("start"):
            seconds += dice.between(*_START)
        return seconds

    def do(self, job: Job, guest: Guest) -> None:
        cluster = job.cluster
        maker = DriveMaker(shelf_of(cluster, guest), _settings(job), job.log)
        try:
            values = _complete_values(cluster, _settings(job), maker)
        except (ApiError, FormatError) as error:
            maker.undo()
            text = error.text.strip() if isinstance(error, FormatError) else error.message
            raise die(f"unable to create VM {guest.vmid} - {text}") from None
        guest.config.values = values
        guest.changed_at = cluster.now
        job.arguments[_CREATED] = True
        pool = cluster.state.resource_pools.get(job.text("pool"))
        if pool is not None:
            pool.guests.append(guest.vmid)
        cluster.changed()
        if job.arguments.get("ha-managed"):
            job.log("Add as HA resource")
            _manage(cluster, guest, started=bool(job.arguments.get("start")))
        if job.arguments.get("start"):
            job.log("Execute autostart")
            try:
                power_on(cluster, guest, job.log)
            except ApiError as error:
                job.log(error.message)

    def power_lost(self, job: Job) -> None:
        super().power_lost(job)
        guest = job.cluster.state.guests.get(job.number("vmid"))
        if guest is not None and is_inside(job):
            leave_behind(shelf_of(job.cluster, guest), _settings(job))

    def ended(self, job: Job) -> None:
        super().ended(job)
        if not job.arguments.get(_CREATED):
            forget(job.cluster, job.number("vmid"))


def _settings(job: Job) -> dict[str, str]:
    settings = job.arguments["settings"]
    return (
        {str(key): str(value) for key, value in settings.items()}
        if isinstance(settings, dict)
        else {}
    )


def _complete_values(
    cluster: Cluster, settings: dict[str, str], maker: DriveMaker
) -> dict[str, str]:
    """All values of the machine, with what was left to choose."""
    values = {key: value for key, value in settings.items() if not is_drive(key)}
    for key in sorted(settings):
        if not is_drive(key):
            continue
        drive = parse_requested_drive(key, settings[key])
        if drive.is_cloud_init:
            cloud_init = has_cloud_init(values, key)
            if cloud_init:
                raise die(f"{key} - cloud-init drive is already attached at '{cloud_init}'")
        values[key] = str(maker(drive))
    if "tags" in values:
        values["tags"] = print_tags(values["tags"], tag_style(cluster.state.options))
    stored = new_machine(values, maker_of(cluster))
    if not stored.get("description", " "):
        del stored["description"]
    return stored


def maker_of(cluster: Cluster) -> Maker:
    """What new machines take from their world."""
    return Maker(
        dice=cluster.around.dice,
        now=int(cluster.now),
        qemu_version=release_of(cluster.state.profile).qemu,
        mac_prefix=cluster.state.options.get("mac_prefix", DEFAULT_PREFIX),
    )


def _manage(cluster: Cluster, guest: Guest, *, started: bool) -> None:
    sid = f"vm:{guest.vmid}"
    state = "started" if started else "stopped"
    cluster.state.ha_resources[sid] = Section(sid, "vm", {"state": state})


_DESTROY_SECONDS = (1.0, 5.0)


def check_destroy(cluster: Cluster, guest: Guest, *, purge: bool) -> None:
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
        check_destroy(job.cluster, guest, purge=bool(job.arguments.get("purge")))
        refuse_locked(job.cluster, guest, skip=bool(job.arguments.get("skiplock")))
        shelf = shelf_of(job.cluster, guest)
        if guest.is_template:
            _refuse_cloned(shelf, guest)
        return job.cluster.around.dice.between(*_DESTROY_SECONDS)

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
        *(values["vmstate"] for values in config.snapshots.values() if "vmstate" in values),
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


_CHANGE_SECONDS = (0.1, 0.5)


def _silent(_line: str) -> None:
    return None


def check_change(
    guest: Guest, change: ConfigChange, digest: str = "", *, skip: bool = False
) -> None:
    """What is looked at before anything is written; `skip` leaves the lock out."""
    config = guest.config
    if skip:
        bare = {key: value for key, value in config.values.items() if key != "lock"}
        if digest and digest != machine_digest(config):
            raise die("checksum mismatch (file change by other user?)")
        config, digest = replace(config, values=bare), ""
    check_update(config, change, digest)


def update(
    cluster: Cluster, guest: Guest, change: ConfigChange, log: Callable[[str], None] = _silent
) -> None:
    """Write a change down and apply what can be applied now; what cannot is named in the error."""
    shelf = shelf_of(cluster, guest)
    maker = DriveMaker(shelf, guest.config.values, log)
    context = GuestContext(
        vmid=guest.vmid,
        running=guest.is_running,
        owns=shelf.owns,
        made=maker,
        tag_style=tag_style(cluster.state.options),
    )
    try:
        outcome = plan_update(guest.config, change, context)
    except FormatError as error:
        raise die(error.text) from None
    for line in outcome.warnings:
        log(line)
    for volid in outcome.freed:
        _free_volume(cluster, guest, volid, log)
    if outcome.regenerate_cloud_init:
        regenerate(cluster, guest)
    if guest.is_running and outcome.applied:
        notice_change(cluster, guest)
    if outcome.errors:
        raise bad_parameters(outcome.errors)


def _free_volume(cluster: Cluster, guest: Guest, volid: str, log: Callable[[str], None]) -> None:
    try:
        shelf_of(cluster, guest).free(volid)
    except ApiError as error:
        log(error.message)


@register
class Configure(GuestWork):
    """Changes a configuration."""

    name: ClassVar[str] = "qemu.config"

    def check(self, job: Job, guest: Guest) -> float:
        self._check(job, guest)
        seconds = job.cluster.around.dice.between(*_CHANGE_SECONDS)
        return seconds + import_seconds(shelf_of(job.cluster, guest), change_of(job).sets)

    def do(self, job: Job, guest: Guest) -> None:
        update(job.cluster, guest, change_of(job), job.log)

    def power_lost(self, job: Job) -> None:
        super().power_lost(job)
        guest = job.cluster.state.guests.get(job.number("vmid"))
        if guest is not None and is_inside(job):
            leave_behind(shelf_of(job.cluster, guest), change_of(job).sets)

    def _check(self, job: Job, guest: Guest) -> None:
        skip = bool(job.arguments.get("skiplock"))
        check_change(guest, change_of(job), job.text("digest"), skip=skip)


def change_of(job: Job) -> ConfigChange:
    """The change that a task makes."""
    return restored(ConfigChange, job.arguments["change"])


def change_argument(change: ConfigChange) -> object:
    """A change as a task keeps it."""
    return plain(change)
