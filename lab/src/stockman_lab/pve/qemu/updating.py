"""A change of a machine's configuration, and what it does outside of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from stockman_lab.core.saved import plain, restored
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.change import Change
from stockman_lab.pve.guest_config.context import GuestContext
from stockman_lab.pve.guest_config.state import machine_digest
from stockman_lab.pve.guest_config.update import check_update, plan_update
from stockman_lab.pve.qemu.cloud_init_drive import regenerate
from stockman_lab.pve.qemu.drives import DriveMaker, import_seconds, leave_behind
from stockman_lab.pve.qemu.file_lock import GuestWork, is_inside
from stockman_lab.pve.qemu.power import notice_change, shelf_of
from stockman_lab.pve.qemu.settings import tag_style
from stockman_lab.pve.workers import Job, register

_SECONDS = (0.1, 0.5)


def _silent(_line: str) -> None:
    return None


def check_change(guest: Guest, change: Change, digest: str = "", *, skip: bool = False) -> None:
    """What is looked at before anything is written; `skip` leaves the lock out."""
    config = guest.config
    if skip:
        bare = {key: value for key, value in config.values.items() if key != "lock"}
        if digest and digest != machine_digest(config):
            raise die("checksum mismatch (file change by other user?)")
        config, digest = replace(config, values=bare), ""
    check_update(config, change, digest)


def update(
    cluster: Cluster, guest: Guest, change: Change, log: Callable[[str], None] = _silent
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
        _free(cluster, guest, volid, log)
    if outcome.regenerate_cloud_init:
        regenerate(cluster, guest)
    if guest.is_running and outcome.applied:
        notice_change(cluster, guest)
    if outcome.errors:
        raise bad_parameters(outcome.errors)


def _free(cluster: Cluster, guest: Guest, volid: str, log: Callable[[str], None]) -> None:
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
        seconds = job.cluster.around.dice.between(*_SECONDS)
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


def change_of(job: Job) -> Change:
    """The change that a task makes."""
    return restored(Change, job.arguments["change"])


def change_argument(change: Change) -> object:
    """A change as a task keeps it."""
    return plain(change)
