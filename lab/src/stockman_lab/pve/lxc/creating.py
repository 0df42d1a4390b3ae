"""New containers, and their end: an id is taken at once, workers do the rest."""

from __future__ import annotations

import re
from typing import ClassVar

from stockman_lab.images.system_archive import ArchivedSystem, NoArchive, archived_system
from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.mount_point import is_mount
from stockman_lab.pve.formats.sizes import GIB
from stockman_lab.pve.formats.volume_name import FOLDERS
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.change import ConfigChange
from stockman_lab.pve.guest_config.container_update import plan_container_update
from stockman_lab.pve.guest_config.context import GuestContext
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_ids import forget, forget_traces, refuse_needed
from stockman_lab.pve.lxc.power import Start, power_off
from stockman_lab.pve.lxc.volumes import CONTENT, MountMaker, mounts_of, shelf_of, volumes_of
from stockman_lab.pve.qemu.file_lock import GuestWork, guest_of, host_of, is_inside
from stockman_lab.pve.qemu.settings import tag_style
from stockman_lab.pve.qemu.shelf import Shelf
from stockman_lab.pve.storage import Volume
from stockman_lab.pve.workers import Asked, Job, register, start

_SECONDS = (2.0, 6.0)
_SET_UP_SECONDS = 1.0
"""From the configuration to the end: passwords and keys are put into the root, it is unmounted."""
_WRITTEN, _CREATED = "written", "created"
_COMPRESSIONS = {"gz": "-z", "bz2": "-j", "xz": "-J", "zst": "--zstd"}
_PACKED = re.compile(r"\.tar(?:\.([^.]+))?$", re.IGNORECASE)
_UNPACKED_SHARE = 3
"""How much larger a system is than its archive."""


def first_values(cluster: Cluster, vmid: int, settings: dict[str, str]) -> dict[str, str]:
    """What is written down of settings that need no volumes."""
    config = GuestConfig()
    context = GuestContext(
        vmid=vmid,
        running=False,
        owns=lambda _: False,
        tag_style=tag_style(cluster.state.options),
    )
    sets = {key: value for key, value in settings.items() if not is_mount(key)}
    outcome = plan_container_update(config, ConfigChange(sets=sets), context)
    if outcome.errors:
        raise ApiError(400, "Parameter verification failed.", outcome.errors)
    return config.values


@register
class Create(GuestWork):
    """Makes volumes, unpacks a system, writes the configuration, and sets the system up.

    A failure leaves nothing. The configuration is written without a lock before the system is set
    up: a host that dies in between leaves a container that looks as if it were whole.
    """

    name: ClassVar[str] = "lxc.create"

    def check(self, job: Job, guest: Guest) -> float:
        del guest
        return job.cluster.around.dice.between(*_SECONDS)

    def finish(self, job: Job) -> float | None:
        if _WRITTEN in job.arguments:
            self._set_up(job, guest_of(job))
            return None
        more = super().finish(job)
        if more is not None or _WRITTEN not in job.arguments:
            return more
        self.stretched(job, _SET_UP_SECONDS)
        return _SET_UP_SECONDS

    def do(self, job: Job, guest: Guest) -> None:
        cluster = job.cluster
        maker = MountMaker(shelf_of(cluster, guest))
        try:
            guest.config.values = _make_values(job, maker)
        except (ApiError, FormatError) as error:
            maker.undo()
            text = error.text.strip() if isinstance(error, FormatError) else error.message
            raise die(f"unable to create CT {guest.vmid} - {text}") from None
        guest.changed_at = cluster.now
        job.arguments[_WRITTEN] = maker.made
        cluster.changed()

    def _set_up(self, job: Job, guest: Guest) -> None:
        cluster = job.cluster
        job.arguments[_CREATED] = True
        pool = cluster.state.resource_pools.get(job.text("pool"))
        if pool is not None:
            pool.guests.append(guest.vmid)
        cluster.changed()
        if job.arguments.get("start"):
            asked = Asked(
                "vzstart", str(guest.vmid), job.task.user, Start.name, {"vmid": guest.vmid}
            )
            guest.busy_until = 0.0
            start(cluster, host_of(job), asked)
        if job.arguments.get("ha-managed"):
            job.log("Add as HA resource")
            sid = f"ct:{guest.vmid}"
            state = "started" if job.arguments.get("start") else "stopped"
            cluster.state.ha_resources[sid] = Section(sid, "ct", {"state": state})

    def power_lost(self, job: Job) -> None:
        super().power_lost(job)
        guest = job.cluster.state.guests.get(job.number("vmid"))
        if guest is not None and is_inside(job) and _WRITTEN not in job.arguments:
            _leave_behind(job, shelf_of(job.cluster, guest))

    def abort(self, job: Job) -> None:
        guest = job.cluster.state.guests.get(job.number("vmid"))
        argument = job.arguments.get(_WRITTEN)
        if guest is not None and isinstance(argument, list):
            MountMaker(shelf_of(job.cluster, guest), argument).undo()

    def ended(self, job: Job) -> None:
        super().ended(job)
        if not job.arguments.get(_CREATED):
            forget(job.cluster, job.number("vmid"))


def _leave_behind(job: Job, shelf: Shelf) -> None:
    """Volumes of which nobody wrote down any more that they are the container's."""
    maker = MountMaker(shelf)
    try:
        for mount in mounts_of(_settings(job)):
            maker(mount)
    except (ApiError, FormatError):
        return


def _settings(job: Job) -> dict[str, str]:
    settings = job.arguments["settings"]
    return {str(key): str(value) for key, value in dict(settings).items()}  # type: ignore[call-overload]


def _make_values(job: Job, maker: MountMaker) -> dict[str, str]:
    settings = _settings(job)
    values = first_values(job.cluster, job.number("vmid"), settings)
    if job.arguments.get("unprivileged"):
        values["unprivileged"] = "1"
    for mount in mounts_of(settings):
        values[mount.key] = str(maker(mount))
    system = _unpack(job, maker.shelf, values)
    if values.get("ostype") != "unmanaged":
        if not system.kind:
            raise die("unable to detect OS distribution")
        if values.get("ostype", system.kind) != system.kind:
            job.log(f"got unexpected ostype ({system.kind} != {values['ostype']})")
        values["ostype"] = system.kind
    if "arch" not in values:
        job.log("Detected container architecture: amd64")
        values["arch"] = "amd64"
    values.setdefault("hostname", f"CT{job.number('vmid')}")
    values.setdefault("memory", "512")
    values.setdefault("swap", "512")
    return values


def _unpack(job: Job, shelf: Shelf, values: dict[str, str]) -> ArchivedSystem:
    """What is in the archive, once it is in the root of the container."""
    volid = job.text("ostemplate")
    archive = shelf.find(volid)
    if archive is None:
        raise die(f"volume '{volid}' does not exist")
    path = _path(shelf, archive)
    packed = _PACKED.search(path)
    if packed is None:
        raise die(f"file does not look like a template archive: {path}")
    compression = packed[1] or ""
    if compression and compression not in _COMPRESSIONS:
        raise die(f"unrecognized compression format: .{compression}")
    job.log(f"extracting archive '{path}'")
    try:
        found = archived_system(shelf.cluster.around.blobs.get(archive.blob), compression)
    except NoArchive:
        if job.arguments.get("ignore-unpack-errors"):
            return ArchivedSystem()
        command = _tar(job, compression)
        raise die(f"command '{command}' failed: exit code 2") from None
    written = archive.size * (_UNPACKED_SHARE if compression else 1)
    job.log(f"Total bytes read: {written} ({written / GIB:.1f}GiB, 250MiB/s)")
    _write(shelf, values, written, found)
    return found


def _write(shelf: Shelf, values: dict[str, str], written: int, system: ArchivedSystem) -> None:
    for mount in mounts_of(values):
        root = shelf.find(mount.volume) if mount.key == "rootfs" else None
        if root is not None:
            root.used = max(root.used, min(written, root.size))
            root.contents = {"release": dict(system.release)}


def _path(shelf: Shelf, archive: Volume) -> str:
    folder = shelf.cluster.state.storages[archive.storage].path
    return f"{folder}/{FOLDERS['vztmpl']}/{archive.name.removeprefix('vztmpl/')}"


def _tar(job: Job, compression: str) -> str:
    compressions = ["tar", "xpf", "-"]
    if job.arguments.get("unprivileged"):
        mapped = "lxc-usernsexec -m u:0:100000:65536 -m g:0:100000:65536 --"
        compressions = [*mapped.split(), *compressions]
    if compression:
        compressions.append(_COMPRESSIONS[compression])
    flags = (
        "--totals --one-file-system -p --sparse --numeric-owner --acls --xattrs"
        " '--xattrs-include=user.*' '--xattrs-include=security.capability'"
        " '--warning=no-file-ignored' '--warning=no-xattr-write'"
    )
    root = f"/var/lib/lxc/{job.number('vmid')}/rootfs"
    return " ".join(
        [*compressions, flags, "-C", root, "--skip-old-files --anchored --exclude './dev/*'"]
    )


_DESTROY_SECONDS = (1.0, 5.0)


def check_destroy(cluster: Cluster, guest: Guest, *, purge: bool, force: bool) -> None:
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
        return job.cluster.around.dice.between(*_DESTROY_SECONDS)

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
        check_destroy(job.cluster, guest, purge=purge, force=force)


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
