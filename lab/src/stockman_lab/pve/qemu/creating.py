"""New virtual machines: the id is reserved at once, the rest is a worker's."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.drive import is_drive
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.nic import DEFAULT_PREFIX
from stockman_lab.pve.formats.tags import print_tags
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.creation import Maker, new_machine
from stockman_lab.pve.guest_config.state import has_cloud_init
from stockman_lab.pve.guest_ids import forget
from stockman_lab.pve.qemu.drives import DriveMaker, asked_drive, import_seconds, leave_behind
from stockman_lab.pve.qemu.file_lock import GuestWork, is_inside
from stockman_lab.pve.qemu.power import power_on, shelf_of
from stockman_lab.pve.qemu.settings import tag_style
from stockman_lab.pve.releases import release_of
from stockman_lab.pve.workers import Job, register

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
            values = _completed(cluster, _settings(job), maker)
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


def _completed(cluster: Cluster, settings: dict[str, str], maker: DriveMaker) -> dict[str, str]:
    """All values of the machine, with what was left to choose."""
    values = {key: value for key, value in settings.items() if not is_drive(key)}
    for key in sorted(settings):
        if not is_drive(key):
            continue
        drive = asked_drive(key, settings[key])
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
